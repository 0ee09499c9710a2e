"""Seeds by link prediction: the chunks that a question is likeliest linked to, by a predictor that was trained on this or another store."""

from __future__ import annotations

import asyncio
import threading
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from weakref import WeakKeyDictionary

import numpy as np

from kgrag.errors import InputError, PipelineError
from kgrag.retrieve.scores import scaled
from kgrag.retrieve.state import Candidate, Query, Resources, Seeds, hit_of
from kgrag.retrieve.step import BesideFile, Count, Share
from kgrag.retrieve.steps.seeds import SeedStep
from kgrag.store.graph import GraphStore

if TYPE_CHECKING:
    from kgrag.link_prediction.model_file import ModelFile
    from kgrag.link_prediction.scoring import Scorer
    from kgrag.retrieve.chunk_graph import StoredChunks

__all__ = ["LinkPrediction"]


class LinkPrediction(SeedStep):
    """The question as a new node of the chunks' graph (LP-RAG): what it is likeliest linked to, by `kgrag train lp`'s predictor.

    The graph is that of now: chunks that came after the training are scored like the others.
    """

    kind: Literal["lp"] = "lp"
    model: BesideFile
    """The predictor's file."""
    candidates: Count = 100
    """Chunks taken, the likeliest first."""
    threshold: Share = 0.0
    """The least probability of a link; where no chunk has it, the likeliest one is taken alone."""

    def check(self, resources: Resources) -> None:
        """Raise `PipelineError` where the file is none, or reads vectors of another embedder."""
        try:
            model = _model(self.model)
        except InputError as error:
            raise PipelineError(str(error)) from error
        dimensions = model.trained.predictor.shape.dimensions
        if (model.embedder, dimensions) != (resources.embedder.name, resources.embedder.dimensions):
            raise PipelineError(
                f"{self.model} reads vectors of {model.embedder} ({dimensions} dimensions), the store has those of "
                f"{resources.embedder.name} ({resources.embedder.dimensions}): train one on this store (kgrag train lp)."
            )

    async def find(self, query: Query, resources: Resources) -> Seeds:
        """Find the chunks that the question is likeliest linked to."""
        found = await asyncio.to_thread(self._best, query, resources)
        rows = await asyncio.to_thread(resources.store.search.chunk_similarity, ids=list(found), vector=query.vector)
        hits = {hit.chunk_id: hit for hit in map(hit_of, rows)}
        shares = scaled({chunk: probability for chunk, probability in found.items() if chunk in hits})
        return Seeds(
            {
                chunk: Candidate(
                    chunk, share, (f"link {found[chunk]:.2f}",), hits[chunk].place, cosine=hits[chunk].cosine
                )
                for chunk, share in shares.items()
            }
        )

    def _best(self, query: Query, resources: Resources) -> dict[str, float]:
        scorer, chunks = _scorer(_model(self.model), resources.store, resources.graph)
        vector = np.asarray(query.vector, dtype=np.float32)
        length = float(np.linalg.norm(vector))
        if not chunks.ids or length == 0.0:
            return {}
        best = scorer.best(vector / length, self.candidates)
        kept = [(node, probability) for node, probability in best if probability >= self.threshold] or best[:1]
        return {chunks.ids[node]: probability for node, probability in kept}


_scorers: WeakKeyDictionary[GraphStore, dict[tuple[str, str], tuple[Scorer, StoredChunks]]] = WeakKeyDictionary()
_making = threading.Lock()


def _scorer(model: ModelFile, store: GraphStore, graph: str) -> tuple[Scorer, StoredChunks]:
    from kgrag.link_prediction.scoring import Scorer
    from kgrag.retrieve.chunk_graph import stored_chunks

    chunks = stored_chunks(store, graph, model.trained.options)
    key = (model.fingerprint, graph)
    with _making:
        made = _scorers.setdefault(store, {})
        if key not in made or made[key][1] is not chunks:
            made[key] = (Scorer(model.trained, chunks.graph), chunks)
        return made[key]


def _model(name: str) -> ModelFile:
    file = Path(name)
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        changed = 0
    return _read(file, changed)


@lru_cache(maxsize=8)
def _read(file: Path, _changed: int) -> ModelFile:
    from kgrag.link_prediction.model_file import read_model

    return read_model(file)
