"""What an open store is measured by, and what is learnt from questions about it: `MeasuredGraph`."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kgrag.knowledge_graph.arguments import checks_arguments
from kgrag.knowledge_graph.opened import OpenedGraph
from kgrag.models import CHAT_MODELS
from kgrag.models.names import JUDGE

if TYPE_CHECKING:
    from kgrag.common.progress import Progress
    from kgrag.jobs.compare import CompareReport
    from kgrag.jobs.compare_outlook import Outlook
    from kgrag.jobs.comparison import CompareOptions, Comparison
    from kgrag.jobs.questions import QuestionOptions, QuestionsReport
    from kgrag.jobs.train import TrainedRanker
    from kgrag.jobs.train_links import LinkOptions, TrainedLinks
    from kgrag.jobs.tune import Tuned

__all__ = ["MeasuredGraph"]


@checks_arguments
class MeasuredGraph(OpenedGraph):
    """An open store with what compares its pipelines on questions, makes questions of it, and trains and tunes by them."""

    async def compare(
        self,
        questions: str | Path,
        *,
        out: str | Path,
        options: CompareOptions,
        rejudge: Literal["missing", "failed", "all"] = "missing",
        progress: Progress | None = None,
    ) -> CompareReport:
        """Ask every question through every pipeline and judge the answers, in a run that resumes; see `kgrag.jobs.compare.compare`.

        Every model that is needed is asked once before the first question. Raises `InputError` for files that cannot be read, and what
        pipelines and models raise.
        """
        from kgrag.common.progress import Silent
        from kgrag.common.retry import outage_policy
        from kgrag.evaluate.runs import Run
        from kgrag.jobs.compare import compare

        prepared = await self._comparison(Path(questions), options)
        await self.models.require(["chat", "embedder", "reranker"])
        if options.judge != self.settings.model:
            await self.models.require(["chat"], chat=options.judge)
        say = (progress or Silent()).say
        with Run(Path(out), create=True) as run, self.store.waiting(outage_policy(self.settings.wait_s, say=say)):
            return await compare(
                run, prepared, concurrency=self.settings.concurrency, rejudge=rejudge, progress=progress
            )

    async def compare_outlook(
        self,
        questions: str | Path,
        *,
        out: str | Path,
        options: CompareOptions,
        rejudge: Literal["missing", "failed", "all"] = "missing",
    ) -> Outlook:
        """Say what `compare` would still do; no model is called, and a run that is not there is not made."""
        from kgrag.evaluate.runs import Run, run_exists
        from kgrag.jobs.compare_outlook import outlook

        prepared = await self._comparison(Path(questions), options)
        with Run(Path(out)) if run_exists(Path(out)) else nullcontext() as run:
            return outlook(run, prepared, prices=self.meter.prices, rejudge=rejudge)

    async def make_questions(
        self, out: str | Path, *, options: QuestionOptions | None = None, progress: Progress | None = None
    ) -> QuestionsReport:
        """Make questions with gold chunks of what the store holds, and write them to `out` as JSON lines.

        A model, where the settings name one, puts them into other words. Raises `InputError` where nothing can be made. See
        docs/evaluation.md.
        """
        from kgrag.jobs.questions import QuestionOptions, make_questions

        return await make_questions(
            Path(out),
            options or QuestionOptions(),
            store=self.store,
            graph=await asyncio.to_thread(self._graph_of_settings),
            embedder=self.embedder,
            model=self.model,
            progress=progress,
        )

    async def train_ranker(
        self,
        out: str | Path,
        *,
        questions: str | Path | None = None,
        options: QuestionOptions | None = None,
        pipeline: str = "default",
        progress: Progress | None = None,
    ) -> TrainedRanker:
        """Adapt the ranking of a pipeline to the store, and write it to `out` (`.toml`) where held-out questions are ranked better by it.

        It learns from `questions`, a file with gold evidence, or from those that are made of the store by `options` and written beside
        `out`. Raises `InputError` where there are too few. See docs/retrieval.md.
        """
        from kgrag.jobs.train import train_ranker

        return await train_ranker(
            Path(out),
            store=self.store,
            graph=await asyncio.to_thread(self._graph_of_settings),
            embedder=self.embedder,
            questions=_path(questions),
            options=options,
            pipeline=pipeline,
            model=self.model,
            progress=progress,
        )

    async def tune(
        self,
        questions: str | Path,
        *,
        out: str | Path | None = None,
        switches: str | Path | None = None,
        measure: str = "facts",
        budget: int = 1500,
        top: int = 20,
        factorial: bool = False,
        kept: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Tuned:
        """Find which switches of retrieval help on questions with gold evidence (at least four), and write that pipeline to `out`.

        `switches` is a TOML file of them, kgrag's own where none is given. `measure` is what is to grow: `facts` inside `budget` tokens,
        `R@5`, `all@5`, `hit@1`, `hit@5` or `MRR`; each pipeline shows `top` pieces. `factorial` asks every combination. Scores are kept in
        the file `kept`, with which the same call goes on. Raises `InputError`. See docs/retrieval.md.
        """
        from kgrag.jobs.tune import tune

        self.store.check(self.embedder.name, self.embedder.dimensions)
        return await tune(
            Path(questions),
            store=self.store,
            models=self.models,
            graph=self.settings.graph,
            out=_path(out),
            switches=_path(switches),
            measure=measure,
            budget=budget,
            top=top,
            factorial=factorial,
            kept=_path(kept),
            progress=progress,
        )

    async def train_links(
        self,
        out: str | Path,
        *,
        questions: str | Path | None = None,
        options: LinkOptions | None = None,
        progress: Progress | None = None,
    ) -> TrainedLinks:
        """Train a link predictor of questions and chunks; write it (`.npz`) and a pipeline that takes its seeds by it (`out`, `.toml`).

        Raises `InputError` where there are too few questions, or the store has no vectors. See docs/link-prediction.md.
        """
        from kgrag.jobs.train_links import train_links

        return await train_links(
            Path(out),
            store=self.store,
            graph=await asyncio.to_thread(self._graph_of_settings),
            embedder=self.embedder,
            questions=_path(questions),
            options=options,
            progress=progress,
        )

    async def _comparison(self, questions: Path, options: CompareOptions) -> Comparison:
        """Read and open all that a comparison needs, so that what is wrong is said before the first answer."""
        from kgrag.evaluate.gold_questions import read_questions_to_judge
        from kgrag.evaluate.judge.judges import open_judge
        from kgrag.evaluate.judge.presets import load_preset
        from kgrag.jobs.comparison import Comparison

        asked = read_questions_to_judge(questions)
        retrievers = {name: await asyncio.to_thread(self.retriever, name) for name in options.pipelines}
        model = None
        if options.judge not in CHAT_MODELS:
            model = self.models.chat_named(options.judge, setting=JUDGE)
        return Comparison.prepare(
            questions.name,
            asked,
            options,
            retrievers=retrievers,
            judge=open_judge(model, embedder=self.embedder, preset=load_preset(options.preset)),
            corpus=await asyncio.to_thread(self.store.digest),
            embedder=self.embedder,
            model=self.model,
            settings=self.settings,
            prices=self.meter.prices,
        )

    def _graph_of_settings(self) -> str:
        """Return the graph of the settings, or the only one; empty where the store has none."""
        return self.graph_name(self.settings.graph) if self.store.graphs.counts() else ""


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
