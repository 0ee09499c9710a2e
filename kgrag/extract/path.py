"""The `path` extractor: LlamaIndex's SimpleLLMPathExtractor."""

from __future__ import annotations

from kgrag.extract.by_framework import FrameworkExtractor
from kgrag.extract.prompts import prompt_template
from kgrag.extract.statements import Stated, Statement
from kgrag.models.base import ChatModel
from kgrag.models.frameworks.llama_index import (
    DEFAULT_KG_TRIPLET_EXTRACT_PROMPT,
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
    framework = "llama-index-core"

    def __init__(
        self,
        model: ChatModel,
        *,
        instructions: str | None = None,
        max_paths_per_chunk: int = 10,
        as_shipped: bool = False,
    ) -> None:
        self._prompt = DEFAULT_KG_TRIPLET_EXTRACT_PROMPT
        if instructions is not None:
            self._prompt = PromptTemplate(prompt_template(instructions, form=FORM, schema="", text="text", escape=str))
        self._max_paths = max_paths_per_chunk
        depends_on = (self._prompt.template, str(max_paths_per_chunk))
        super().__init__(model, schema=None, as_shipped=as_shipped, depends_on=depends_on)

    async def _run(self, chunk: Chunk, model: ChatModel) -> Stated:
        extractor = SimpleLLMPathExtractor(
            llm=LlamaIndexModel(chat_model=model),
            extract_prompt=self._prompt,
            max_paths_per_chunk=self._max_paths,
            num_workers=1,
            raise_on_error=True,  # it would log what its parser raises, and keep nothing
        )
        (node,) = await extractor.acall([TextNode(text=chunk.prompted_text)])
        nodes, relations = node.metadata[KG_NODES_KEY], node.metadata[KG_RELATIONS_KEY]
        return Stated(
            statements=[
                Statement(nodes[2 * i].name, relation.label, nodes[2 * i + 1].name)
                for i, relation in enumerate(relations)
            ]
        )
