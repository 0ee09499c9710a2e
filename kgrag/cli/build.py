"""`kgrag build`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Unpack

import typer

from kgrag.cli.options import AsJson, HostedSettings, Store, setting, takes_settings

if TYPE_CHECKING:
    from kgrag.jobs.estimate import Estimate
    from kgrag.jobs.report import BuildReport, GraphReport
    from kgrag.jobs.train import TrainedRanker
    from kgrag.knowledge_graph import KnowledgeGraph

__all__ = ["build"]

LEARNT_FROM = "default"
"""The pipeline that --learn adapts."""
LEARNT_QUESTIONS = 120
"""Made at most: 175 took 67 s of one processor."""


def _path(given: str) -> Path:
    from kgrag.documents.discovery import given_path

    return given_path(given)


class BuildSettings(HostedSettings):
    """How documents are read, cut and embedded, who extracts from them by which model, and where that is done."""

    pdf: Annotated[str | None, setting("--pdf", help="auto, native (no models) or standard (Docling's layout models).")]
    chunker: Annotated[
        str | None,
        setting(
            "--chunker",
            help="Who cuts documents into chunks: structure (kgrag's packer, default), hybrid (Docling's HybridChunker), recursive "
            "(sections in parts of 1,000 characters), pages (the same of pages) or semantic (clusters of sentences).",
        ),
    ]
    chunk_tokens: Annotated[
        int | None,
        setting(
            "--chunk-tokens",
            min=64,
            help="Of the longest chunk, within the embedder's window. Default: 512 (minilm: 254).",
        ),
    ]
    table_rows: Annotated[
        bool | None,
        setting(
            "--table-rows", help="Give rows of tables vectors of their own, for pipelines with `table_rows = true`."
        ),
    ]
    extractor: Annotated[
        list[str] | None,
        setting("--extractor", "-x", help="Who extracts; again for a second graph. Default: mention."),
    ]
    graph: Annotated[str | None, setting("--graph", help="Another name for the graph than its extractor's.")]
    recorded: Annotated[
        Path | None, setting("--recorded", help="JSON lines of recorded extractions, for --extractor recorded.")
    ]
    prompt: Annotated[
        str | None,
        setting("--prompt", help="kgrag, or a file with instructions, instead of the extractor's own prompt."),
    ]
    as_shipped: Annotated[bool | None, setting("--as-shipped", help="Keep only what a framework's own parser gives.")]
    gleaning: Annotated[
        bool | None, setting("--gleaning", help="Let llm ask once more for what its first reply left out.")
    ]
    retry: Annotated[
        str | None,
        setting(
            "--retry",
            help="What to ask for again: failed (default), or partial: also chunks of which something was lost.",
        ),
    ]
    extraction_schema: Annotated[
        str | None,
        setting(
            "--schema",
            help="Types for llm, simple_kg and graph_transformer: none, induced (from samples), or a JSON or TOML file. Default: none.",
        ),
    ]
    max_paths_per_chunk: Annotated[
        int | None, setting("--max-paths-per-chunk", min=1, help="Triplets that path asks for. Default: 10.")
    ]
    transformer_mode: Annotated[
        str | None, setting("--transformer-mode", help="How graph_transformer asks: tool (default) or prompt.")
    ]
    wait_s: Annotated[
        float | None,
        setting("--wait-s", min=0, help="How long to wait for a model or database that is away. Default: 600."),
    ]
    engine: Annotated[
        str | None, setting("--engine", help="Who does the work: local (default), or ray: a Ray cluster.")
    ]
    ray_address: Annotated[
        str | None,
        setting(
            "--ray-address",
            help="Of the Ray cluster: auto, or HOST:6379. Default: one on this machine, for this build.",
        ),
    ]


@takes_settings
def build(
    paths: Annotated[
        list[Path],
        typer.Argument(
            parser=_path,
            metavar="PATH...",
            help="Folders, PDF, HTML, Markdown, reStructuredText, AsciiDoc, text, DOCX, PPTX, XLSX, OpenDocument, EPUB, "
            "DocBook, Info, CSV, mail, .jsonl of ready passages; with the extra ocr pictures and scans; with the extra pandoc "
            "manual pages, LaTeX, notebooks, RTF and more.",
        ),
    ],
    store: Store = None,
    metadata: Annotated[
        Path | None, typer.Option("--metadata", help="A file that gives documents their product, category and version.")
    ] = None,
    keep_missing: Annotated[
        bool, typer.Option("--keep-missing", help="Keep documents whose files are gone from a folder that is built.")
    ] = False,
    explain_cleaning: Annotated[
        bool, typer.Option("--explain-cleaning", help="Show every line that cleaning removed, by rule.")
    ] = False,
    learn: Annotated[
        Path | None,
        typer.Option(
            "--learn",
            help="Then adapt the ranking to the documents, by questions made of them: a pipeline file, written only where held-out "
            "questions are ranked better by it than by default.",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Say what it would do, cost and take; ask no model and change nothing. Ctrl-C: of the files until then.",
        ),
    ] = False,
    as_json: AsJson = False,
    **settings: Unpack[BuildSettings],
) -> int:
    """Make a store hold what files and folders hold; what is unchanged is left alone, so the same command also updates and resumes."""
    from kgrag.cli.output import complain, print_json, stdout, terminal_progress
    from kgrag.cli.train import trained_fields, trained_words
    from kgrag.documents.discovery import expect_paths
    from kgrag.errors import InputError
    from kgrag.knowledge_graph import estimate_build, open_graph
    from kgrag.settings import load_settings

    if (recorded := settings["recorded"]) is not None and "recorded" not in load_settings(**settings).extractor:
        raise InputError(f"--recorded {recorded}: expected --extractor recorded, which reads it.")
    if dry_run:
        return _foresee(partial(estimate_build, *paths, store=store, metadata=metadata, **settings), as_json=as_json)
    if learn is not None:
        from kgrag.retrieve.pipeline import expect_pipeline_place

        expect_pipeline_place(learn)
    expect_paths(paths, metadata=metadata)  # a wrong path makes no store
    with open_graph(store, create=True, **settings) as opened:
        with redirect_stdout(sys.stderr):  # what Ray has to say of actors and nodes that end it writes to stdout
            report = opened.build(*paths, metadata=metadata, keep_missing=keep_missing, progress=terminal_progress())
            ranking = _learnt(opened, learn, report) if learn is not None else None
        # Before the store is closed: where there is no room for its snapshot, the build is done all the same.
        if as_json:
            said = ranking if isinstance(ranking, str | None) else trained_fields(ranking)
            print_json(report if ranking is None else {**report.model_dump(mode="json"), "ranking": said})
        else:
            _summarise(report, explain_cleaning=explain_cleaning)
            if ranking is not None:
                words = ranking if isinstance(ranking, str) else trained_words(ranking, LEARNT_FROM)
                stdout.print(f"Ranking: {words}", markup=False)
    if not report.files:
        complain(f"No file that kgrag reads in {', '.join(map(str, paths))}.")
    return 0 if report.complete and report.files else 1


def _foresee(estimate_into: Callable[..., Estimate], *, as_json: bool) -> int:
    """Show what a build would do; Ctrl-C shows it of the files that were read until then."""
    from kgrag.cli.estimate import show_estimate
    from kgrag.cli.output import print_json, terminal_progress
    from kgrag.errors import Interrupted
    from kgrag.jobs.estimate import Estimate

    estimate, interrupted = Estimate(), False
    try:
        estimate_into(progress=terminal_progress(), result=estimate)
    except KeyboardInterrupt:
        interrupted = True
    if as_json:
        print_json(estimate)
    else:
        show_estimate(estimate)
    if interrupted:
        raise Interrupted("Interrupted: this is of the files that were read until then. Nothing was changed.")
    return 1 if estimate.unreadable else 0


def _learnt(opened: KnowledgeGraph, out: Path, report: BuildReport) -> TrainedRanker | str:
    """Adapt the ranking after a build, or say why it is left as it is."""
    from kgrag.cli.output import terminal_progress
    from kgrag.errors import InputError
    from kgrag.jobs.questions import QUESTIONS_SUFFIX, QuestionOptions

    made = out.with_suffix(QUESTIONS_SUFFIX)
    if made.exists() and not (report.chunks_written or report.removed_documents):
        return f"no document changed since {made} was made, nothing is learnt anew."
    options = QuestionOptions(limit=LEARNT_QUESTIONS)
    try:
        return opened.train_ranker(out, options=options, pipeline=LEARNT_FROM, progress=terminal_progress())
    except InputError as error:  # too few documents to learn from: the build itself is done
        return f"not learnt, {LEARNT_FROM} stays as it is. {error}"


def _summarise(report: BuildReport, *, explain_cleaning: bool) -> None:
    from kgrag.cli.estimate import usage_words
    from kgrag.cli.output import stdout

    say = stdout.print
    say(
        f"Documents: {report.new_documents} new, "
        f"{f'{report.updated_documents} updated, ' if report.updated_documents else ''}{report.unchanged_files} files unchanged, "
        f"{f'{len(report.moved_documents)} moved, ' if report.moved_documents else ''}{len(report.removed_documents)} removed, "
        f"{sum(f.stage == 'convert' for f in report.failures)} failed"
    )
    say(
        f"Chunks: {report.chunks_written} written, {report.chunks_embedded} embedded; now {report.hyperlinks} hyperlinks between chunks"
    )
    for name, states in report.extractions.items():
        graph = report.graphs[name]
        say(f"Graph {name}: {_graph_line(states, graph)}", markup=False)
        if graph.usage.calls:
            say(f"  used {usage_words(graph.usage)}; expected {usage_words(graph.expected)}", markup=False)
        for remark, count in sorted(graph.remarks.items()):
            say(f"  {count:,} {remark}", markup=False)
    if report.removed_lines:
        counts = ", ".join(f"{rule} {len(lines)}" for rule, lines in sorted(report.removed_lines.items()))
        say(
            f"Cleaning removed lines: {counts}" + ("" if explain_cleaning else " (--explain-cleaning shows them)"),
            markup=False,
        )
    if explain_cleaning:
        for rule, lines in sorted(report.removed_lines.items()):
            say(f"{rule}:", markup=False)
            for line in lines:
                say(f"  {line}", markup=False)
    for before, now in report.moved_documents.items():
        say(f"moved: {before} is now {now}; its vectors and extractions stay", markup=False)
    for path in report.removed_documents:
        say(f"removed: {path} (no longer on disk; --keep-missing keeps such documents)", markup=False)
    if report.ignored_files:
        most_first = sorted(report.ignored_files.items(), key=lambda one: (-one[1], one[0]))
        say(f"ignored files: {', '.join(f'{count} {what}' for what, count in most_first)}", markup=False)
    for note in report.notes:
        say(f"note: {note}", markup=False)
    for failure in report.failures:
        chunk = "chunk or entity" if failure.stage == "embed" else "chunk"
        what = failure.subject if failure.stage == "convert" else f"{failure.scope}: {chunk} {failure.subject}"
        say(f"failed: {failure.stage} {what}: {failure.reason}", markup=False)
    if any(failure.stage != "convert" for failure in report.failures):
        say("What failed is asked for again by the same command.")
    if partial := sum(states.get("partial", 0) for states in report.extractions.values()):
        say(f"Of {partial:,} chunks a part of the reply was lost (partial): --retry partial asks for them again, too.")
    for name, usage in report.models.items():
        say(f"Meter {name}: {usage_words(usage)}", markup=False)
    say("Time: " + ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in report.seconds.items()))


def _graph_line(states: Mapping[str, int], graph: GraphReport) -> str:
    chunks = ", ".join(f"{count} {state}" for state, count in sorted(states.items()))
    holds = f"now {graph.entities} entities, {graph.relations} relations ({graph.ungrounded} ungrounded)"
    return f"chunks {chunks}; {holds}"
