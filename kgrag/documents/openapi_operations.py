"""Operations of a web API as HTML: a section each, with its parameters, what is sent and what comes back."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from kgrag.documents.json_schema import (
    Field,
    SchemaWriter,
    entries,
    field_table,
    fit_for_cell,
    is_true,
    items,
    keywords,
    said,
    table,
    value_text,
)
from kgrag.documents.markdown import LOWEST_HEADING

__all__ = ["OperationWriter", "links_to", "security", "servers"]

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
LONGEST_SUMMARY = 100
"""Characters of a summary that stands in an operation's heading."""
DEEPEST_CALLBACK = 2
PATH_READ = frozenset({*METHODS, "summary", "description", "parameters", "servers", "$ref"})
OPERATION_READ = keywords(
    "tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated "
    "security servers consumes produces schemes"
)
RESPONSE_READ = keywords("description summary content headers links schema examples")
FLAGS = {"explode": "exploded", "allowEmptyValue": "may be empty", "deprecated": "deprecated"}


def servers(written: dict[str, Any], schemas: SchemaWriter) -> str:
    """Write where the API is: servers, or the host and base path of Swagger 2, and what it takes and gives."""
    lines = []
    for server in map(entries, items(written.get("servers"))):
        lines.append(f"<li>{escape(said(server.get('url')))} {schemas.cell(server.get('description'))}")
        for name, variable in ((name, entries(one)) for name, one in entries(server.get("variables")).items()):
            one_of = ", ".join(map(said, items(variable.get("enum"))))
            values = f"{{{name}}}: default {said(variable.get('default'))}{one_of and f', one of: {one_of}'}"
            lines.append(f"<p>{escape(values)}</p>{schemas.cell(variable.get('description'))}")
        lines.append("</li>")
    host, base = said(written.get("host")), said(written.get("basePath"))
    if host or base:
        schemes = [f"{said(one)}://" for one in items(written.get("schemes"))] or [""]
        lines += [f"<li>{escape(f'{scheme}{host}{base}' if host else base)}</li>" for scheme in schemes]
    parts = [f"<p>Servers:</p><ul>{''.join(lines)}</ul>" if lines else ""]
    for key, label in (("consumes", "Takes"), ("produces", "Gives")):
        if found := items(written.get(key)):
            parts.append(f"<p>{label}: {escape(', '.join(map(said, found)))}</p>")
    return "".join(parts)


def security(written: dict[str, Any], label: str) -> str:
    """Write what a caller must show: `api_key or oauth (read)`."""
    ways = []
    for way in map(entries, items(written.get("security"))):
        needed = [f"{name} ({', '.join(map(said, items(of)))})" if items(of) else name for name, of in way.items()]
        ways.append(" and ".join(needed) or "nothing")
    return f"<p>{label}: {escape(' or '.join(ways))}</p>" if ways else ""


def links_to(written: dict[str, Any], schemas: SchemaWriter) -> str:
    """Write the link to other documentation."""
    docs = entries(written.get("externalDocs"))
    url = escape(said(docs.get("url")))
    words = schemas.cell(docs.get("description"))
    return f'<p>See <a href="{url}">{url}</a></p>{words}' if url else words


class OperationWriter:
    """Writes the operations of a file."""

    def __init__(self, schemas: SchemaWriter) -> None:
        self._schemas = schemas
        self._callbacks_open = 0

    def path(self, place: str, written: object, *, level: int) -> Iterator[tuple[str, str]]:
        """Yield the first tag and the section of each operation of a path; `level` is that of its heading."""
        if place.startswith("x-"):
            self._schemas.count_unread({place: written})
            return
        path = self._schemas.resolved(written)
        self._schemas.count_unread(path, PATH_READ)
        shared = items(path.get("parameters"))
        words = [self._schemas.markdown(path.get(key), level=level) for key in ("summary", "description")]
        words.append(servers(path, self._schemas))
        for method in METHODS:
            if operation := entries(path.get(method)):
                tag = said(next(iter(items(operation.get("tags"))), ""))
                call = f"{method.upper()} {place}"
                yield tag, self._operation(call, operation, shared, "".join(words), level=level)

    def _operation(self, call: str, operation: dict[str, Any], shared: list[Any], words: str, *, level: int) -> str:
        schemas = self._schemas
        schemas.count_unread(operation, OPERATION_READ)
        summary, ident = said(operation.get("summary")).rstrip("."), said(operation.get("operationId"))
        is_short = 0 < len(summary) <= LONGEST_SUMMARY and summary != call
        anchor = f' id="operation/{escape(ident)}"' if ident else ""
        return "".join(
            [
                f"<h{level}{anchor}>{f'{schemas.line(summary)} ({escape(call)})' if is_short else escape(call)}</h{level}>",
                schemas.markdown(summary, level=level) if summary and not is_short and summary != call else "",
                "<p>Deprecated.</p>" if is_true(operation.get("deprecated")) else "",
                schemas.markdown(operation.get("description"), level=level),
                words,
                f"<p>Operation: {escape(ident)}</p>" if ident else "",
                servers(operation, schemas),
                security(operation, "Needs"),
                links_to(operation, schemas),
                self.parameters([*shared, *items(operation.get("parameters"))]),
                self.body(schemas.resolved(operation.get("requestBody")), "Request body"),
                *self.responses(entries(operation.get("responses"))),
                *self._callbacks(entries(operation.get("callbacks")), level=min(level + 1, LOWEST_HEADING)),
            ]
        )

    def parameters(self, written: list[Any]) -> str:
        """Write a table of parameters; of two with the same name and place the last one counts. A body (Swagger 2) is written as one."""
        by_name = {
            (said(one.get("name")), said(one.get("in"))): one for one in map(self._schemas.resolved, written) if one
        }
        bodies = [one for (_, place), one in by_name.items() if place == "body"]
        fields = [self.parameter(one) for (_, place), one in by_name.items() if place != "body"]
        return field_table("Parameters", fields) + "".join(
            self.body({**one, "content": {"": {"schema": one.get("schema")}}}, "Request body") for one in bodies
        )

    def parameter(self, written: dict[str, Any]) -> Field:
        """Return a parameter, or a header, as a row."""
        self._schemas.count_unread(written)
        media: object = next(iter(entries(written.get("content")).values()), {})
        schema = written.get("schema") or entries(media).get("schema") or written
        own = self._schemas.resolved(schema)
        style = f"style {said(written['style'])}" if said(written.get("style")) else ""
        named = [self._schemas.resolved(one) for one in entries(written.get("examples")).values()]
        examples = [": ".join(filter(None, (said(one.get("summary")), value_text(one.get("value"))))) for one in named]
        shown = [*map(value_text, (written.get("example"), own.get("example"))), ", ".join(filter(None, examples))]
        flags = [
            words
            for key, words in FLAGS.items()
            if is_true(written.get(key)) and (schema is not written or key != "deprecated")
        ]
        return Field(
            said(written.get("name")),
            ", ".join(filter(None, (self._schemas.kind_of(schema), escape(style), *flags))),
            required=is_true(written.get("required")),
            default=escape(value_text(own.get("default"))),
            example=escape(next(filter(None, shown), "")),
            description=self._schemas.cell(written.get("description"))
            or fit_for_cell(self._schemas.words(schema, level=LOWEST_HEADING)),
            place=said(written.get("in")),
            allowed="" if self._schemas.has_section(schema) else self._schemas.allowed(schema),
        )

    def body(self, body: dict[str, Any], label: str) -> str:
        """Write what is sent: each kind of content with its type, fields and examples."""
        label += ", required" if is_true(body.get("required")) else ""
        words = self._schemas.markdown(body.get("description"), level=LOWEST_HEADING)
        contents = self._contents(body)
        if not contents:
            return f"<p>{escape(label)}</p>{words}" if words else ""
        return "".join(self._content(*one, label, words if one is contents[0] else "") for one in contents)

    def _contents(self, body: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
        """Return the kinds of content; those that refer to the same schema are one."""
        kinds: dict[str, tuple[list[str], dict[str, Any]]] = {}
        for name, written in entries(body.get("content")).items():
            media = self._schemas.resolved(written)
            schema = entries(media.get("schema"))
            is_shared = "$ref" in schema and not media.keys() - {"schema"}
            kinds.setdefault(said(schema["$ref"]) if is_shared else f" {name}", ([], media))[0].append(name)
        return [(", ".join(filter(None, names)), media) for names, media in kinds.values()]

    def _content(self, kind: str, media: dict[str, Any], label: str, words: str = "") -> str:
        schemas, schema = self._schemas, media.get("schema") or media.get("itemSchema")
        of_type = schemas.type_of(schema) if schema else ""
        own = {} if schemas.has_section(schema) else schemas.resolved(schema)
        parts = [
            f"<p>{escape(label)}{escape(f' ({kind})') if kind else ''}{of_type and f': {of_type}'}</p>",
            words,
            schemas.words(own, level=LOWEST_HEADING),
            field_table("Fields", schemas.fields(schema)) if own else "",
        ]
        for name, one in entries(media.get("examples")).items():
            example = schemas.resolved(one)
            value = next((example[key] for key in ("value", "dataValue", "externalValue") if key in example), None)
            parts.append(schemas.example(f"Example: {said(example.get('summary')) or name}", value))
            parts.append(schemas.markdown(example.get("description"), level=LOWEST_HEADING))
        return "".join([*parts, schemas.example("Example", media.get("example", own.get("example")))])

    def responses(self, written: dict[str, Any]) -> Iterator[str]:
        """Yield a table of responses, and behind it the headers, fields and examples of those that stand nowhere else."""
        rows, behind = [], []
        for status, one in written.items():
            if status.startswith("x-"):
                self._schemas.count_unread({status: one})
                continue
            response = _with_content(self._schemas.resolved(one))
            self._schemas.count_unread(response, RESPONSE_READ)
            contents = self._contents(response)
            headers = {
                name: self.parameter({**self._schemas.resolved(of), "name": name})
                for name, of in entries(response.get("headers")).items()
            }
            types = (self._schemas.type_of(media["schema"]) for _, media in contents if "schema" in media)
            rows.append(
                {
                    "Status": escape(status),
                    "Type": " or ".join(dict.fromkeys(types)),
                    "Description": self._schemas.cell(response.get("description") or response.get("summary")),
                    "Headers": escape(", ".join(headers)),
                    "Links": escape(", ".join(_links(entries(response.get("links"))))),
                }
            )
            if "$ref" not in entries(one):
                behind.append(field_table(f"Headers of response {status}", headers.values()))
                behind += [self._content(*of, f"Response {status}") for of in contents if self._has_more(of[1])]
        yield table("Responses", rows)
        yield from behind

    def _has_more(self, media: dict[str, Any]) -> bool:
        """Whether there is more to say of a content than its type."""
        if media.get("example") or media.get("examples"):
            return True
        schema = media.get("schema")
        if self._schemas.has_section(schema):
            return False
        own = self._schemas.resolved(schema)
        return (
            bool(own.get("description") or own.get("example")) or next(self._schemas.fields(schema), None) is not None
        )

    def _callbacks(self, written: dict[str, Any], *, level: int) -> Iterator[str]:
        """Yield the operations that the API calls at a place that it is told; these can have callbacks of their own."""
        if self._callbacks_open == DEEPEST_CALLBACK:
            self._schemas.left_out += len(written)
            return
        self._callbacks_open += 1
        for name, one in written.items():
            for place, path in self._schemas.resolved(one).items():
                for _, html in self.path(place, path, level=level):
                    yield f"<p>Callback: {escape(name)}</p>{html}"
        self._callbacks_open -= 1


def _with_content(response: dict[str, Any]) -> dict[str, Any]:
    """Return a response with its content as version 3 has it; version 2 has a schema, and examples by kind of content."""
    if "schema" not in response and not ("examples" in response and "content" not in response):
        return response
    examples = entries(response.get("examples"))
    schema = {"schema": response["schema"]} if "schema" in response else {}
    content = {kind: {**schema, "example": example} for kind, example in examples.items()} or {"": schema}
    return {**response, "content": content}


def _links(written: dict[str, Any]) -> Iterator[str]:
    for name, link in ((name, entries(one)) for name, one in written.items()):
        operation = said(link.get("operationId")) or said(link.get("operationRef"))
        words = ": ".join(filter(None, (operation, said(link.get("description")))))
        yield f"{name} ({words})" if words else name
