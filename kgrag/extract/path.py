"""The `path` extractor: LlamaIndex's SimpleLLMPathExtractor, with a parse function of ours."""

from __future__ import annotations

import json
from dataclasses import replace

from kgrag.extract.by_framework import FrameworkExtractor
from kgrag.extract.conversation import Conversation, ReadingModel
from kgrag.extract.prompts import INSTRUCTIONS, prompt_template
from kgrag.extract.statements import Stated
from kgrag.models.base import ChatModel
from kgrag.models.frameworks.llama_index import (
    KG_NODES_KEY,
    KG_RELATIONS_KEY,
    LlamaIndexModel,
    PromptTemplate,
    SimpleLLMPathExtractor,
    TextNode,
)
from kgrag.types import Chunk

__all__ = ["PathExtractor"]

FORM = """\
Give up to {max_knowledge_triplets} triplets, one a line, in this form and nothing else:
("subject", "predicate", "object")
If the text states nothing, write NONE."""


class PathExtractor(FrameworkExtractor):
    """An `Extractor` of untyped triples: subject, predicate, object."""

    name = "path"

    def __init__(self, model: ChatModel, *, instructions: str = INSTRUCTIONS, max_paths_per_chunk: int = 10) -> None:
        template = prompt_template(instructions, form=FORM, schema="", text="text", escape=str)
        super().__init__(model, depends_on=(template, str(max_paths_per_chunk)))
        bridge = LlamaIndexModel(chat_model=ReadingModel(model, form="lines", write=_triple_lines))
        self._extractor = SimpleLLMPathExtractor(
            llm=bridge,
            extract_prompt=PromptTemplate(template),
            parse_fn=_parse,
            max_paths_per_chunk=max_paths_per_chunk,
            num_workers=1,
            raise_on_error=True,
        )

    async def _run(self, chunk: Chunk, said: Conversation) -> Stated:
        (node,) = await self._extractor.acall([TextNode(text=chunk.prompted_text)])
        nodes, relations = node.metadata[KG_NODES_KEY], node.metadata[KG_RELATIONS_KEY]
        return Stated(
            named=list(said.stated.named),
            statements=[
                replace(sent, head=nodes[2 * i].name, type=relation.label, tail=nodes[2 * i + 1].name)
                for i, (relation, sent) in enumerate(zip(relations, said.stated.statements, strict=True))
            ],
        )


def _triple_lines(stated: Stated) -> str:
    """Write one triple a line as JSON: what `_parse` reads, with no character changed."""
    return "\n".join(json.dumps([s.head, s.type, s.tail], ensure_ascii=False) for s in stated.statements)


def _parse(reply: str) -> list[tuple[str, str, str]]:
    """Read what `_triple_lines` wrote; LlamaIndex's own function would split names at commas and capitalise them."""
    return [(head, kind, tail) for head, kind, tail in map(json.loads, reply.split("\n") if reply else [])]
