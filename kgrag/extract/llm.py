"""The `llm` extractor: kgrag's own prompt, one call a chunk, by JSON schema.

What is constant (instructions, form, examples) stands in the system message, before all that is a chunk's own: endpoints that keep the
beginning of a prompt charge it once. Besides entities and relations it asks for quantities with what they are of and under which
condition they hold, and of every statement for the sentence that says it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kgrag.errors import ModelReplyError
from kgrag.extract.graph_data import read_data
from kgrag.extract.grounding import OUTSIDE_SCHEMA, ground
from kgrag.extract.prompts import INSTRUCTIONS
from kgrag.extract.replies import read_reply
from kgrag.extract.schema import ExtractionSchema
from kgrag.extract.statements import Stated
from kgrag.models.base import ChatModel, Message
from kgrag.models.reply_schema import TEXT, list_of, object_of
from kgrag.text.names import NORMAL_FORM_VERSION
from kgrag.types import Chunk, Document, Extraction, Usage, content_id

__all__ = ["LLMExtractor"]

VERSION = "5"
FORM = """\
Reply with one JSON object:
- "entities": every thing that the text names, with its name as written, a type (Product, Part, Interface, Function, Material,
  Organization, Person, Place, Standard, Document, Command, Setting, ...) and a description of a few words of the text, or "".
- "relations": what the text says about two of them: subject, relation (UPPER_SNAKE_CASE), object, and the sentence or table row
  that says it, as written.
- "quantities": every value with its unit, as written: subject (what it is of), property (supply voltage, weight, ...), value
  ("1.71 V to 1.98 V"), condition under which it holds ("at 25 °C", or ""), and the sentence or table row that says it. In a table the
  unit may stand in another cell: write it after the number.
The document's title and headings say what the text is about: where a sentence has no subject, it is of that. If the text states
nothing, give empty lists."""
GLEAN = """\
Read the text once more. Reply in the same form with the entities, relations and quantities that it states and your reply does not
have. If nothing is missing, give empty lists."""


def _described(**properties: str) -> dict[str, Any]:
    """Make the schema of a list of objects whose properties are texts, each with what it is."""
    return list_of(object_of(**{name: {**TEXT, "description": text} for name, text in properties.items()}))


SCHEMA = object_of(
    entities=_described(name="As the text writes it.", type="One word.", description="Of the text, or empty."),
    relations=_described(
        subject="As the text writes it.",
        relation="UPPER_SNAKE_CASE.",
        object="As the text writes it.",
        sentence="The sentence or row that says it.",
    ),
    quantities=_described(
        subject="What it is of.",
        property="What is measured.",
        value="Number and unit as written.",
        condition="When it holds, or empty.",
        sentence="The sentence or row that says it.",
    ),
)

EXAMPLES: tuple[tuple[str, Mapping[str, Any]], ...] = (
    (
        """\
Document: TPR-40 Barometric Pressure Sensor
Section: Supply
Text:
<<<
The TPR-40 is a 1.8 V part. Its supply current is 0.4 mA while measuring. The X-100 Rev 3 has a level shifter for its own TPR-40.
>>>""",
        {
            "entities": [
                {"name": "TPR-40", "type": "Part", "description": "Barometric Pressure Sensor"},
                {"name": "X-100 Rev 3", "type": "Product", "description": ""},
                {"name": "level shifter", "type": "Part", "description": ""},
            ],
            "relations": [
                {
                    "subject": "X-100 Rev 3",
                    "relation": "HAS_PART",
                    "object": "level shifter",
                    "sentence": "The X-100 Rev 3 has a level shifter for its own TPR-40.",
                },
                {
                    "subject": "X-100 Rev 3",
                    "relation": "HAS_PART",
                    "object": "TPR-40",
                    "sentence": "The X-100 Rev 3 has a level shifter for its own TPR-40.",
                },
            ],
            "quantities": [
                {
                    "subject": "TPR-40",
                    "property": "supply voltage",
                    "value": "1.8 V",
                    "condition": "",
                    "sentence": "The TPR-40 is a 1.8 V part.",
                },
                {
                    "subject": "TPR-40",
                    "property": "supply current",
                    "value": "0.4 mA",
                    "condition": "while measuring",
                    "sentence": "Its supply current is 0.4 mA while measuring.",
                },
            ],
        },
    ),
    (
        """\
Document: TPR-40 Barometric Pressure Sensor
Section: Specifications
Text:
<<<
| Parameter | Min | Typ | Max | Unit |
| --- | --- | --- | --- | --- |
| Accuracy, 0 °C to 60 °C | - | ±0.6 | ±1.0 | hPa |
>>>""",
        {
            "entities": [{"name": "TPR-40", "type": "Part", "description": "Barometric Pressure Sensor"}],
            "relations": [],
            "quantities": [
                {
                    "subject": "TPR-40",
                    "property": f"accuracy, {which}",
                    "value": value,
                    "condition": "0 °C to 60 °C",
                    "sentence": "| Accuracy, 0 °C to 60 °C | - | ±0.6 | ±1.0 | hPa |",
                }
                for which, value in (("typical", "±0.6 hPa"), ("maximum", "±1.0 hPa"))
            ],
        },
    ),
)
"""From `examples/documents`."""


class LLMExtractor:
    """An `Extractor` of typed entities, relations and quantities, each statement with its sentence.

    One call a chunk; with `gleaning` a second one asks for what the first left out.
    """

    name = "llm"

    def __init__(
        self,
        model: ChatModel,
        *,
        instructions: str | None = None,
        schema: ExtractionSchema | None = None,
        gleaning: bool = False,
    ) -> None:
        self._model = model
        self._gleaning = gleaning
        self._schema = schema
        parts = [instructions or INSTRUCTIONS]
        if schema:
            parts.append(f"Use only these types of entities and relations:\n{schema.in_words()}")
        parts.append(FORM)
        for asked, replied in EXAMPLES:
            parts.append(f"Example.\n\n{asked}\n\n{json.dumps(replied, ensure_ascii=False)}")
        self._system = Message("system", "\n\n".join(parts))

    @property
    def fingerprint(self) -> str:
        """Of version, model, prompt, schema and options."""
        asked = (self._model.name, self._system.content, json.dumps(SCHEMA), GLEAN * self._gleaning)
        return content_id(VERSION, NORMAL_FORM_VERSION, self.name, *asked)

    def prepare(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        """Need nothing of the corpus."""
        return None

    async def extract(self, chunk: Chunk) -> Extraction:
        """Extract one chunk. Raises `ModelReplyError` with the raw reply and its cost, and `ModelError` from the model."""
        messages = [self._system, Message("user", _shown(chunk))]
        stated, reply, usage = await self._ask(messages, chunk)
        if stated.form is None or (stated.lost and not stated.size):
            raise ModelReplyError(
                f"{self._model.name}: expected entities and relations, got none: {stated.reason}.",
                reply=reply,
                usage=usage,
            )
        if self._gleaning:
            again = [*messages, Message("assistant", reply), Message("user", GLEAN)]
            more, second, more_usage = await self._ask(again, chunk)
            usage += more_usage
            stated.named += more.named
            stated.statements += more.statements
            stated.mended += more.mended
            stated.lost += [f"gleaning: {note}" for note in more.lost]
            reply = f"{reply}\n{second}"
        kept = self._schema.only(stated) if self._schema else stated
        remarks = {OUTSIDE_SCHEMA: stated.size - kept.size}
        return ground(kept, chunk, reply=reply, said=stated.size, remarks=remarks, usage=usage)

    async def _ask(self, messages: list[Message], chunk: Chunk) -> tuple[Stated, str, Usage]:
        """Ask once: what the reply states, its raw text, and what it cost."""
        try:
            reply = await self._model.reply(messages, schema=SCHEMA)
        except ModelReplyError as error:
            if not error.reply and not error.usage.calls:
                raise  # it was refused before it was answered
            stated = read_reply(error.reply, chunk_text=chunk.prompted_text)
            stated.lost.insert(0, str(error).partition(" The reply was: ")[0].rstrip("."))
            return stated, error.reply, error.usage
        stated = read_reply(reply.text, chunk_text=chunk.prompted_text)
        if stated.form is None and reply.data is not None:
            stated = read_data(reply.data)
        if reply.mended:
            stated.mended.insert(0, f"the model was asked again, because {reply.mended.rstrip('.')}")
        return stated, reply.text, reply.usage


def _shown(chunk: Chunk) -> str:
    lines = [
        f"Document: {chunk.title}" if chunk.title else "",
        f"Section: {chunk.section}" if chunk.headings else "",
        f"Text:\n<<<\n{chunk.text}\n>>>",
    ]
    return "\n".join(filter(None, lines))
