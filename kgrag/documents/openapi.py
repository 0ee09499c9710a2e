"""Descriptions of web APIs (OpenAPI 3, Swagger 2; JSON or YAML) to blocks, by way of HTML.

Each operation is a section with its parameters, request bodies and responses, each schema one with a table of its fields; the texts are
Markdown. Nothing is fetched or included.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

import yaml

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.html import blocks_of_html
from kgrag.documents.json_schema import SchemaWriter, entries, field_table, items, keywords, said
from kgrag.documents.openapi_operations import OperationWriter, links_to, security, servers
from kgrag.documents.text_encoding import decode
from kgrag.errors import DocumentError

__all__ = ["convert_openapi"]

NAMED_SCHEMAS = ("#/components/schemas/", "#/definitions/")
WITHOUT_TAG = "Operations"
FLOAT = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+(?:[eE][-+]?\d+)?|[eE][-+]?\d+)")
MOST_DIGITS = 25
"""Of a number; what is longer is kept as it is written."""
DEEPEST = 500
"""Lists and objects within each other, of YAML."""
MOST_NAMED = 10
"""Of the references to what is not there, in the note."""
ROOT_READ = keywords(
    "openapi swagger info servers host basePath schemes consumes produces paths webhooks components definitions "
    "parameters responses securityDefinitions security tags externalDocs jsonSchemaDialect $self"
)
INFO_READ = keywords("title version summary description")
TAG_READ = keywords("name description externalDocs summary parent kind")
COMPONENTS_READ = keywords(
    "schemas securitySchemes parameters requestBodies responses headers examples links callbacks pathItems"
)


def convert_openapi(data: bytes, path: Path, *, document_path: str) -> BlockDocument:
    """Convert a description, packed or not. Raises `DocumentError` where it is broken, or JSON or YAML of another kind."""
    decoded = decode(data, path)
    root = entries(_parsed(decoded.text, path))
    if not said(root.get("openapi") or root.get("swagger")):
        raise DocumentError(path, "describes no API: it has no `openapi` and no `swagger`")
    writer = _Writer(root, characters=len(decoded.text))
    html = "".join(writer.document())
    read = blocks_of_html(f"<html><body>{html}</body></html>", path, document_path=document_path)
    info = entries(root.get("info"))
    version = {"version": one} if (one := said(info.get("version"))) else {}
    notes = [*([decoded.note] if decoded.note else ()), *writer.notes()]
    removed = (*writer.schemas.removed, *read.removed)
    return BlockDocument(read.blocks, said(info.get("title")), removed, tuple(notes), version)


def _parsed(text: str, path: Path) -> object:
    """Parse JSON or YAML. Numbers that another way to write them would change stay text: a version 1.10 is not 1.1."""
    text = text.removeprefix("\ufeff")
    try:
        if text.lstrip().startswith("{"):
            return json.loads(text, parse_float=_number, parse_int=_number, strict=False)
        _check_depth(text)
        return yaml.load(text, Loader=_yaml_loader())  # noqa: S506  (a safe loader)
    except RecursionError as error:
        raise DocumentError(path, "is nested too deeply for a description of an API") from error
    except (json.JSONDecodeError, yaml.YAMLError) as error:
        raise DocumentError(path, f"is broken: {' '.join(str(error).split())[:300]}") from error


def _check_depth(text: str) -> None:
    """Raise `RecursionError` for YAML that is nested too deeply: libyaml's composer would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_yaml_loader()):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise RecursionError(f"more than {DEEPEST} levels")


def _number(written: str) -> int | float | str:
    if len(written) > MOST_DIGITS:
        return written
    number = float(written) if FLOAT.fullmatch(written) else int(written)
    return number if str(number) == written else written


@cache
def _yaml_loader() -> Any:
    """Return a loader of YAML as JSON has its values: `no` is no boolean and a date is text."""
    base: Any = getattr(
        yaml, "CSafeLoader", yaml.SafeLoader
    )  # libyaml's takes a tenth of the time, where PyYAML has it
    loader: Any = type("OpenAPILoader", (base,), {"yaml_implicit_resolvers": {}})
    for name, pattern, first in (
        ("bool", re.compile("true|false"), "tf"),
        ("null", re.compile("null|~|"), ["n", "~", ""]),
        ("int", re.compile(r"-?\d+"), "-0123456789"),
        ("float", FLOAT, "-0123456789"),
        ("merge", re.compile("<<"), "<"),
    ):
        pattern = re.compile(f"(?:{pattern.pattern})$")
        loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", pattern, list(first))
    for name in ("int", "float"):
        loader.add_constructor(f"tag:yaml.org,2002:{name}", lambda loader, node: _number(loader.construct_scalar(node)))
    loader.add_constructor(None, _of_unknown_tag)
    return loader


def _of_unknown_tag(loader: Any, node: Any) -> object:
    """Return the text of a value that a program reads in its own way (`!include a.yaml`)."""
    return f"{node.tag} {loader.construct_scalar(node)}" if isinstance(node, yaml.ScalarNode) else node.tag


class _Writer:
    """Writes a description as HTML, in parts."""

    def __init__(self, root: dict[str, Any], *, characters: int) -> None:
        self._root = root
        self._components = entries(root.get("components"))
        self.schemas = SchemaWriter(root, named=NAMED_SCHEMAS, characters=characters)
        self._operations = OperationWriter(self.schemas)

    def notes(self) -> Iterator[str]:
        """Say what was left out."""
        if elsewhere := list(self.schemas.elsewhere):
            named = f"{', '.join(elsewhere[:MOST_NAMED])}{' ...' if len(elsewhere) > MOST_NAMED else ''}"
            yield f"left out what it refers to and does not have: {named}"
        if self.schemas.left_out:
            yield f"{self.schemas.left_out:,} schemas are nested too deeply, or too many: left out"

    def document(self) -> Iterator[str]:
        """Yield the parts in their order."""
        info = entries(self._root.get("info"))
        for written, known in ((self._root, ROOT_READ), (info, INFO_READ), (self._components, COMPONENTS_READ)):
            self.schemas.count_unread(written, known)
        version = said(info.get("version"))
        yield f"<h1>{escape(said(info.get('title')))}</h1>{version and f'<p>Version: {escape(version)}</p>'}"
        yield self.schemas.markdown(info.get("summary"), level=1)
        yield self.schemas.markdown(info.get("description"), level=1)
        yield links_to(self._root, self.schemas)
        yield servers(self._root, self.schemas)
        yield from self._authentication()
        yield from self._by_tag()
        yield from self._schema_sections()
        yield from self._shared()

    def _authentication(self) -> Iterator[str]:
        schemes = entries(self._components.get("securitySchemes")) | entries(self._root.get("securityDefinitions"))
        if not schemes:
            return
        yield f'<h2 id="section/Authentication">Authentication</h2>{security(self._root, "All operations need")}<dl>'
        for name, scheme in ((name, self.schemas.resolved(one)) for name, one in schemes.items()):
            anchor = f"section/Authentication/{escape(name)}"
            yield f'<dt id="{anchor}">{escape(name)}</dt><dd><p>{escape(_scheme(scheme))}</p>'
            yield self.schemas.markdown(scheme.get("description"), level=6)
            for flow, of in _flows(scheme).items():
                urls = [f"{key} {said(of[key])}" for key in of if key.endswith("Url")]
                yield f"<p>{escape(f'Flow {flow}: ' + ', '.join(urls))}</p>"
                scopes = entries(of.get("scopes")).items()
                yield "".join(f"<p>Scope {escape(scope)}: {escape(said(words))}</p>" for scope, words in scopes)
            yield "</dd>"
        yield "</dl>"

    def _by_tag(self) -> Iterator[str]:
        """Yield the operations by their first tag, then webhooks."""
        tags = {said(tag.get("name")): tag for tag in map(entries, items(self._root.get("tags")))}
        found: dict[str, list[str]] = {name: [] for name in tags}
        for place, written in entries(self._root.get("paths")).items():
            for tag_name, html in self._operations.path(place, written, level=3):
                found.setdefault(tag_name or WITHOUT_TAG, []).append(html)
        for name, operations in found.items():
            tag = tags.get(name, {})
            self.schemas.count_unread(tag, TAG_READ)
            words = self.schemas.markdown(tag.get("description") or tag.get("summary"), level=2) + links_to(
                tag, self.schemas
            )
            if operations or words:
                yield f'<h2 id="tag/{escape(name)}">{escape(name)}</h2>{words}{"".join(operations)}'
        called = [
            html
            for name, written in entries(self._root.get("webhooks")).items()
            for _, html in self._operations.path(name, written, level=3)
        ]
        yield f"<h2>Webhooks</h2>{''.join(called)}" if called else ""

    def _schema_sections(self) -> Iterator[str]:
        named = {f"/components/schemas/{name}": one for name, one in entries(self._components.get("schemas")).items()}
        named |= {f"/definitions/{name}": one for name, one in entries(self._root.get("definitions")).items()}
        if named:
            yield "<h2>Schemas</h2>"
        for place, written in named.items():
            yield self._schema(place, written)

    def _schema(self, place: str, written: object) -> str:
        schemas, name = self.schemas, place.rpartition("/")[2]
        schema = schemas.resolved(written)
        schemas.count_unread(entries(written))
        title, of_type = said(schema.get("title")), schemas.type_of(written)
        discriminator = entries(schema.get("discriminator"))
        told_by = said(discriminator.get("propertyName")) or said(schema.get("discriminator"))
        kinds = ", ".join(
            f"{value}: {said(of).rpartition('/')[2]}" for value, of in entries(discriminator.get("mapping")).items()
        )
        default = said(schema.get("default"))
        return "".join(
            [
                f'<h3 id="{escape(place)}">{escape(name)}</h3>',
                f"<p>{escape(title)}</p>" if title and title != name else "",
                schemas.words(written, level=3),
                f"<p>Type: {of_type}{default and f', default {escape(default)}'}</p>"
                if of_type not in ("", "object")
                else "",
                f"<p>Told by {escape(told_by)}{escape(kinds and f': {kinds}')}</p>" if told_by else "",
                links_to(schema, schemas),
                field_table("Fields", schemas.fields(written)),
                schemas.example("Example", schema.get("example") or next(iter(items(schema.get("examples"))), None)),
            ]
        )

    def _shared(self) -> Iterator[str]:
        """Yield the responses that operations refer to, and the parameters and bodies that none refers to."""
        for key, label in (
            ("parameters", "Parameters"),
            ("requestBodies", "Request bodies"),
            ("responses", "Responses"),
        ):
            places = {f"#/components/{key}/": self._components.get(key), f"#/{key}/": self._root.get(key)}
            named = {
                name: one
                for place, found in places.items()
                for name, one in entries(found).items()
                if key == "responses" or place + name.replace("~", "~0").replace("/", "~1") not in self.schemas.referred
            }
            if not named:
                continue
            yield f"<h2>{label}</h2>"
            if key == "parameters":
                yield self._operations.parameters(list(named.values()))
            elif key == "responses":
                yield from self._operations.responses(named)
            else:
                for name, one in named.items():
                    yield self._operations.body(self.schemas.resolved(one), name)


def _scheme(scheme: dict[str, Any]) -> str:
    """Say how a caller shows who it is."""
    type_, name, place = (said(scheme.get(key)) for key in ("type", "name", "in"))
    match type_:
        case "apiKey":
            return f"API key in {place} {name}"
        case "http":
            form = said(scheme.get("bearerFormat"))
            return f"HTTP {said(scheme.get('scheme'))}{form and f' ({form})'}"
        case "openIdConnect":
            return f"OpenID Connect {said(scheme.get('openIdConnectUrl'))}"
        case _:
            return {"oauth2": "OAuth 2", "basic": "HTTP basic", "mutualTLS": "mutual TLS"}.get(type_, type_)


def _flows(scheme: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the flows of OAuth by name; version 2 has one, in the scheme itself."""
    if flow := said(scheme.get("flow")):
        return {flow: scheme}
    return {name: entries(one) for name, one in entries(scheme.get("flows")).items()}
