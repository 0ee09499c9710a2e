"""Descriptions of web APIs: OpenAPI 3 and Swagger 2, in JSON and YAML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kgrag.documents import Converted, discover
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.openapi import convert_openapi
from kgrag.errors import DocumentError

Convert = Callable[..., Converted]
INFO = {"title": "Pump API", "version": "1.10"}

PUMP = """
openapi: 3.0.3
info: {title: Pump API, version: 1.10, description: "Controls *pumps*.\\n\\n# Units\\n\\nPressure is in bar."}
servers:
  - url: https://{site}.example.org/v1
    description: Live
    variables: {site: {default: north, enum: [north, south]}}
security: [{key: []}]
tags: [{name: pumps, description: All about pumps}]
paths:
  /pumps/{id}:
    parameters: [{$ref: '#/components/parameters/id'}]
    get:
      tags: [pumps]
      summary: Read a pump
      operationId: readPump
      parameters:
        - {name: unit, in: query, description: Unit of the pressure, schema: {type: string, enum: [bar, no], default: bar}}
      responses:
        '200': {description: The pump, content: {application/json: {schema: {$ref: '#/components/schemas/Pump'}}}}
        '404': {$ref: '#/components/responses/Missing'}
    put:
      tags: [pumps]
      deprecated: true
      requestBody:
        required: true
        description: What to set
        content:
          application/json:
            schema:
              type: object
              required: [speed]
              properties:
                speed: {type: integer, minimum: 1, maximum: 9, description: "Steps, see the [guide](https://example.org/guide)"}
                place: {type: object, properties: {floor: {type: integer, nullable: true}}}
            example: {speed: 3, since: 2024-05-01}
      responses: {'204': {description: Done}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: X-Key, description: Ask the operator}}
  parameters: {id: {name: id, in: path, required: true, schema: {type: string, format: uuid}, description: The pump's number}}
  responses:
    Missing: {description: No such pump, content: {application/json: {schema: {type: object, properties: {code: {type: string}}}}}}
  schemas:
    Pump:
      description: A pump of the plant
      allOf:
        - {$ref: '#/components/schemas/Device'}
        - type: object
          required: [speed]
          properties: {speed: {type: integer, example: 3}, parts: {type: array, items: {$ref: '#/components/schemas/Device'}}}
    Device: {type: object, properties: {name: {type: string, maxLength: 20}}}
"""


def read(content: str | dict[str, Any], name: str = "a.yaml") -> BlockDocument:
    data = content if isinstance(content, str) else json.dumps(content)
    return convert_openapi(data.encode(), Path(name), document_path=f"docs/{name}")


def lines(document: BlockDocument) -> list[str]:
    return [line for block in document.blocks for line in block.lines]


def test_operations_are_sections_with_tables_of_parameters_and_responses() -> None:
    document = read(PUMP)
    assert (document.title, dict(document.metadata)) == ("Pump API", {"version": "1.10"})
    assert [(block.level, block.text) for block in document.blocks if block.kind == "heading"] == [
        (1, "Pump API"),
        (2, "Units"),
        (2, "Authentication"),
        (2, "pumps"),
        (3, "Read a pump (GET /pumps/{id})"),
        (3, "PUT /pumps/{id}"),
        (2, "Schemas"),
        (3, "Pump"),
        (3, "Device"),
        (2, "Responses"),
    ]
    written = lines(document)
    start = written.index("Read a pump (GET /pumps/{id})")
    assert written[start : written.index("PUT /pumps/{id}")] == [
        "Read a pump (GET /pumps/{id})",
        "Operation: readPump",
        "Parameters",
        "Name | In | Type | Allowed | Required | Default | Description",
        "id | path | string (uuid) |  | yes |  | The pump's number",
        "unit | query | string | one of: bar, no | no | bar | Unit of the pressure",
        "Responses",
        "Status | Type | Description",
        "200 | Pump | The pump",
        "404 | object | No such pump",
    ]


def test_what_is_sent_is_a_table_of_fields_by_their_path_with_its_example() -> None:
    document = read(PUMP)
    written = lines(document)
    start = written.index("PUT /pumps/{id}")
    assert written[start : written.index("Schemas")] == [
        "PUT /pumps/{id}",
        "Deprecated.",
        "Parameters",
        "Name | In | Type | Required | Description",
        "id | path | string (uuid) | yes | The pump's number",
        "Request body, required (application/json): object",
        "What to set",
        "Fields",
        "Name | Type | Allowed | Required | Description",
        "speed | integer | 1 to 9 | yes | Steps, see the guide",
        "place | object |  | no | ",
        "place.floor | integer or null |  | no | ",
        "Example",
        "{",
        '  "speed": 3,',
        '  "since": "2024-05-01"',
        "}",
        "Responses",
        "Status | Description",
        "204 | Done",
    ]
    (link,) = (link for block in document.blocks for row in block.rows for link in row.links if "guide" in link.href)
    assert link.href == "https://example.org/guide"


def test_schemas_are_sections_that_are_linked() -> None:
    document = read(PUMP)
    written = lines(document)
    assert written[written.index("Schemas") :] == [
        "Schemas",
        "Pump",
        "A pump of the plant",
        "Type: Device and more fields",
        "Fields",
        "Name | Type | Required | Example",
        "speed | integer | yes | 3",
        "parts | array of Device | no | ",
        "Device",
        "Fields",
        "Name | Type | Allowed | Required",
        "name | string | at most 20 characters | no",
        "Responses",
        "Responses",
        "Status | Type | Description",
        "Missing | object | No such pump",
        "Response Missing (application/json): object",
        "Fields",
        "Name | Type | Required",
        "code | string | no",
    ]
    links = {link.href for block in document.blocks for row in block.rows for link in row.links}
    anchors = {anchor for block in document.blocks for anchor in block.anchors}
    inside = {href.partition("#")[2] for href in links if href.startswith("docs/a.yaml#")}
    assert inside == {"/components/schemas/Pump", "/components/schemas/Device"} <= anchors
    assert "operation/readPump" in anchors


def test_servers_and_what_a_caller_must_show_are_said() -> None:
    written = lines(read(PUMP))
    assert written[: written.index("pumps")] == [
        "Pump API",
        "Version: 1.10",
        "Controls pumps.",
        "Units",
        "Pressure is in bar.",
        "Servers:",
        "- https://{site}.example.org/v1",
        "  Live",
        "  {site}: default north, one of: north, south",
        "Authentication",
        "All operations need: key",
        "key: API key in header X-Key",
        "Ask the operator",
    ]


def test_swagger_2_is_read_too() -> None:
    written = lines(
        read(
            {
                "swagger": "2.0",
                "info": INFO,
                "host": "example.org",
                "basePath": "/v1",
                "schemes": ["https"],
                "paths": {
                    "/pumps": {
                        "post": {
                            "consumes": ["application/json"],
                            "parameters": [
                                {
                                    "in": "body",
                                    "name": "pump",
                                    "required": True,
                                    "schema": {"$ref": "#/definitions/Pump"},
                                },
                                {"in": "query", "name": "speed", "type": "integer", "maximum": 9},
                            ],
                            "responses": {
                                "200": {
                                    "description": "Ok",
                                    "schema": {"type": "array", "items": {"$ref": "#/definitions/Pump"}},
                                    "examples": {"application/json": [{"name": "P1"}]},
                                }
                            },
                        }
                    }
                },
                "definitions": {"Pump": {"type": "object", "properties": {"name": {"type": "string"}}}},
                "securityDefinitions": {
                    "o": {
                        "type": "oauth2",
                        "flow": "implicit",
                        "authorizationUrl": "https://a",
                        "scopes": {"w": "write"},
                    }
                },
            }
        )
    )
    for line in (
        "- https://example.org/v1",
        "Flow implicit: authorizationUrl https://a",
        "Scope w: write",
        "POST /pumps",
        "Takes: application/json",
        "speed | query | integer | at most 9 | no",
        "Request body, required: Pump",
        "200 | array of Pump | Ok",
        "Response 200 (application/json): array of Pump",
        '    "name": "P1"',
        "name | string | no",
    ):
        assert line in written


def test_variants_callbacks_and_webhooks_keep_their_words() -> None:
    bodies = {
        "oneOf": [
            {
                "title": "By card",
                "description": "Pay *now*",
                "type": "object",
                "properties": {"card": {"const": "visa"}},
            },
            {"title": "By bank", "type": "object", "properties": {"iban": {"type": ["string", "null"]}}},
        ]
    }
    hook = {"post": {"requestBody": {"content": {"application/json": {"schema": bodies}}}, "responses": {}}}
    written = lines(
        read(
            {
                "openapi": "3.1.0",
                "info": INFO,
                "webhooks": {"paid": hook},
                "paths": {"/pay": {"post": {"callbacks": {"done": {"{$request.body#/url}": hook}}, "responses": {}}}},
            }
        )
    )
    body = [
        "Request body (application/json): By card or By bank",
        "By card:",
        "Pay now",
        "Fields",
        "Name | Type | Required",
    ]
    body += ["card | always visa | no", "iban | string or null | no"]
    assert written[2:] == [
        *("Operations", "POST /pay", "Callback: done", "POST {$request.body#/url}", *body),
        *("Webhooks", "POST paid", *body),
    ]


def test_texts_with_tables_and_headings_can_stand_in_a_cell() -> None:
    description = (
        "# Modes\n\n| mode | effect |\n| --- | --- |\n| 1 | slow |\n\n<h3>Note</h3><table><tr><td>a</td></tr></table>"
    )
    parameters = [{"name": "mode", "in": "query", "schema": {"type": "integer"}, "description": description}]
    document = read({"openapi": "3.0.0", "info": INFO, "paths": {"/a": {"get": {"parameters": parameters}}}})
    (table,) = (block for block in document.blocks if block.kind == "table")
    assert table.header is not None
    assert table.header.cells == ("Name", "In", "Type", "Required", "Description")
    assert table.rows[0].cells[-1].split("; ") == ["Modes", "mode effect", "1 slow", "Note", "a"]


def test_what_is_left_out_is_counted_or_named() -> None:
    recursive = {"properties": {"next": {"$ref": "#/components/x-more/node"}}}
    document = read(
        {
            "openapi": "3.0.0",
            "info": {**INFO, "x-logo": {"url": "a.png"}},
            "paths": {
                "/a": {"$ref": "other.yaml#/a"},
                "/b": {
                    "get": {
                        "responses": {"200": {"description": "b", "content": {"text/plain": {"example": "x" * 5000}}}}
                    }
                },
            },
            "components": {"x-more": {"node": recursive}, "schemas": {"List": recursive}},
        }
    )
    removed = [(line.rule, line.text[:20]) for line in document.removed]
    assert ("extension", 'x-logo: {"url": "a.p') in removed
    assert ("long example", "Example xxxxxxxxxxxx") in removed
    assert document.notes == (
        "left out what it refers to and does not have: other.yaml#/a",
        "1 schemas are nested too deeply, or too many: left out",
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", '{"openapi": "3.1.0", "info": {}}'),
        ("a.yml", "# ours\n---\nopenapi: 3.0.0\n"),
        ("sorted.json", json.dumps({"definitions": {"a" * 20_000: {}}, "info": {}, "swagger": "2.0"})),
        ("sorted.yaml", f"components:\n  schemas:\n    {'a' * 20_000}: {{}}\nopenapi: '3.0.0'\n"),
    ],
)
def test_a_description_is_known_by_its_content(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert [source.format for source in discover([tmp_path]).sources] == ["openapi"]


def test_other_json_and_yaml_is_counted_and_not_read(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text('{"name": "a", "dependencies": {"swagger": "2.0.1"}}')
    (tmp_path / "b.yaml").write_text("services:\n  openapi: 3.0.0\n")
    found = discover([tmp_path])
    assert (found.sources, dict(found.ignored)) == ((), {".json": 1, ".yaml": 1})


def test_a_document_has_the_version_that_it_says(convert: Convert) -> None:
    document = convert("api.yaml", PUMP).document
    assert (document.title, document.version, document.format) == ("Pump API", "1.10", "openapi")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("openapi: 3.0.0\npaths: {a: [}", "is broken: while parsing"),
        ('{"openapi": "3.0.0", "paths": {', "is broken: Expecting"),
        ("info:\n  openapi: 3.0.0\n", "describes no API"),
        ('{"openapi": ' + "[" * 100_000, "is nested too deeply"),
        ("openapi: " + "[" * 100_000, "is nested too deeply"),
        ("- " * 100_000, "is nested too deeply"),
        ("? " * 100_000, "is nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(content: str, reason: str) -> None:
    with pytest.raises(DocumentError, match=reason):
        read(content)


def test_aliases_within_aliases_end() -> None:
    levels = [
        f"a{n}: &a{n} {{type: object, properties: {{{', '.join(f'p{m}: *a{n - 1}' for m in range(10))}}}}}"
        for n in range(1, 12)
    ]
    schema = "\n    ".join(["a0: &a0 {type: string}", *levels])
    examples = "\n    ".join(
        ["b0: &b0 [x]", *(f"b{n}: &b{n} [{', '.join([f'*b{n - 1}'] * 10)}]" for n in range(1, 12))]
    )
    document = read(
        f"openapi: 3.0.0\ncomponents:\n  x-b:\n    {examples}\n  schemas:\n    {schema}\n    last: {{example: *b11}}\n"
    )
    assert any("left out" in note for note in document.notes)
    assert sum(len(line) for line in lines(document)) < 1_000_000
