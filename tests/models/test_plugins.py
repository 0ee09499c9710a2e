"""Another package adds an extractor, a chat model, an embedder and a reranker: by entry points, without a change of kgrag."""

import subprocess
import sys
from pathlib import Path

PACKAGE = """
import numpy as np
from kgrag.models.base import Reply
from kgrag.testing import ScriptedReranker
from kgrag.types import Extraction, Usage


class Model:
    def __init__(self, name, settings):
        self.name = name

    async def reply(self, messages, *, schema=None):
        return Reply("X-100", usage=Usage(calls=1))


class Embedder:
    dimensions, max_tokens = 4, 32

    def __init__(self, name, settings):
        self.name = name

    def count_tokens(self, text):
        return len(text.split())

    async def embed_documents(self, texts):
        if "twice" in texts:
            return np.eye(4)
        return np.eye(4)[[len(text) % 4 for text in texts]]

    embed_queries = embed_documents


def reranker(name, settings):
    return ScriptedReranker(lambda query, passage: len(passage))


class Extractor:
    name, fingerprint, needs_model = "mine", "1", True

    def __init__(self, *, model, settings):
        self.model = model

    def prepare(self, documents, chunks):
        pass

    async def extract(self, chunk):
        return Extraction(chunk_id=chunk.id, state="empty", usage=(await self.model.reply([])).usage)
"""
SCRIPT = """
import asyncio
from kgrag.extract import asks_model, extractor_names, open_extractor
from kgrag.errors import ModelReplyError
from kgrag.models import check_model_names, open_chat_model, open_embedder, open_reranker
from kgrag.settings import Settings
from kgrag.types import Chunk

settings = Settings(model="acme:one", reranker="acme:two", embedder="acme:three", model_cache="off")
check_model_names(settings)
model = open_chat_model("acme:one", settings=settings)
assert "mine" in extractor_names() and asks_model("mine")
extractor = open_extractor("mine", model=model, settings=settings)
chunk = Chunk(id="c", document_id="d", source_id="d", position=0, text="x", tokens=1)
print(asyncio.run(extractor.extract(chunk)).usage.calls)
print(asyncio.run(open_reranker("acme:two", settings=settings).score("q", ["a", "bbb"])))
embedder = open_embedder("acme:three", settings=settings)
print(asyncio.run(embedder.embed_documents(["a", "bb"])).argmax(axis=1))
try:
    asyncio.run(embedder.embed_queries(["twice"]))
except ModelReplyError as error:
    print("shape" in str(error))
"""
POINTS = """
[kgrag.extractors]
mine = acme:Extractor
[kgrag.models]
acme = acme:Model
[kgrag.embedders]
acme = acme:Embedder
[kgrag.rerankers]
acme = acme:reranker
"""


def test_another_package_adds_an_extractor_and_models(tmp_path: Path) -> None:
    (tmp_path / "acme.py").write_text(PACKAGE)
    about = tmp_path / "acme-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(POINTS)
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{SCRIPT}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.split() == ["1", "[1.", "3.]", "[1", "2]", "True"], done.stderr
