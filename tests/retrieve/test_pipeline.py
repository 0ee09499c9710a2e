from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar, Literal

import pytest

from kgrag.errors import InputError, PipelineError
from kgrag.retrieve import Pipeline, Resources, State, Step, drawn, listed_pipelines, load_pipeline, pipeline_names
from kgrag.retrieve import steps as registry
from kgrag.retrieve.step import Share
from kgrag.retrieve.steps import BUILT_IN, kind_of, kinds
from kgrag.retrieve.steps.kg import GraphExpansion


def pipeline_of(name: str) -> Pipeline:
    pipeline = load_pipeline(name)
    assert isinstance(pipeline, Pipeline)
    return pipeline


def written(tmp_path: Path, *steps: str, head: str = 'description = "x"') -> str:
    """Write a pipeline whose steps are lines of TOML each, the kind first."""
    tables = ("".join(f"{line}\n" for line in ("[[step]]", *step.split("; "))) for step in steps)
    file = tmp_path / "mine.toml"
    file.write_text("\n".join([head, *tables]), encoding="utf-8")
    return str(file)


def of_kinds(*some: str) -> list[str]:
    return [f'kind = "{kind}"' for kind in some]


def test_every_shipped_pipeline_loads_under_the_name_of_its_file() -> None:
    names = pipeline_names()
    assert {"default", "dense", "hybrid", "hybrid_rrf", "kg", "sparse"} <= set(names)
    assert [load_pipeline(name).name for name in names] == names


def test_an_adaptive_pipeline_without_a_learnt_map_is_not_listed_but_loads() -> None:
    assert "adaptive" not in pipeline_names()
    assert load_pipeline("adaptive").name == "adaptive"


def test_the_kg_pipeline_has_the_caps_of_the_thesis() -> None:
    (expansion,) = (step for step in pipeline_of("kg").steps if isinstance(step, GraphExpansion))
    assert (expansion.entities, expansion.chunks, expansion.neighbours, expansion.hops) == (20, 10, 30, 2)


def test_a_pipeline_may_be_any_toml_file_and_runs_in_its_order(tmp_path: Path) -> None:
    steps = [
        *of_kinds("embed", "sparse"),
        'kind = "links"; weight = 0.5',
        *of_kinds("read", "near_duplicates", "budget"),
    ]
    pipeline = pipeline_of(written(tmp_path, *steps))
    assert pipeline.name == "mine"
    assert [step.kind for step in pipeline.steps] == ["embed", "sparse", "links", "read", "near_duplicates", "budget"]
    drawing = drawn(pipeline)
    places = [drawing.index(f"  {step.kind}") for step in pipeline.steps]
    assert places == sorted(places)


def test_several_steps_of_a_kind_are_told_apart_by_number(tmp_path: Path) -> None:
    pipeline = pipeline_of(written(tmp_path, *of_kinds("embed", "dense", "dense", "read", "budget")))
    assert pipeline.step_names == ["embed", "dense", "dense 2", "read", "budget"]


def test_every_kind_is_registered_once_and_says_what_it_gives() -> None:
    assert len({kind_of(step) for step in BUILT_IN}) == len(BUILT_IN)
    assert kinds()[: len(BUILT_IN)] == [kind_of(step) for step in BUILT_IN]
    assert all(step.needs and step.gives for step in BUILT_IN)


def test_an_unknown_pipeline_is_refused_with_the_known_names() -> None:
    with pytest.raises(PipelineError, match=r"no pipeline 'fancy'.*default.*sparse"):
        load_pipeline("fancy")


def test_a_name_never_reaches_a_file_outside_the_folder() -> None:
    with pytest.raises(PipelineError, match="no pipeline"):
        load_pipeline("../pipelines/default")


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        (['kind = "hybrd"'], r"step 1: kind: expected one of rewrite, .*hybrid.* \(got 'hybrd'\)"),
        (["weight = 1.0"], r"step 1: kind: expected one of .* \(got nothing\)"),
        (['kind = "embed"', 'kind = "dense"; alpa = 0.5'], r"step 2 \(dense\): alpa: There is no such key; allowed are candidates, "),
        (['kind = "embed"', 'kind = "hybrid"; alpha = 1.5'], r"step 2 \(hybrid\): alpha: .*less than or equal to 1"),
        (['kind = "hybrid"; fusion = "sum"'], r"step 1 \(hybrid\): fusion: Input should be 'minmax' or 'rrf' \(got 'sum'\)"),
        (['kind = "links"'], r"step 1 \(links\): weight: Field required \(got nothing\)"),
        (['kind = "rewrite"; without_model = "topic"'], r"step 1 \(rewrite\): without_model: Input should be 'content_terms'"),
        (['kind = "kg"; hops = 3', 'kind = "budget"; tokens = 0'], r"step 1 \(kg\): hops: .*; step 2 \(budget\): tokens: "),
        (of_kinds("dense", "read", "budget"), r"step 1 \(dense\): needs vector, which no step before it gives; these do: embed"),
        (of_kinds("embed", "kg", "dense", "read", "budget"), r"step 2 \(kg\): needs seeds, which .* these do: dense, sparse"),
        (of_kinds("embed", "rewrite", "dense", "read", "budget"), r"step 2 \(rewrite\): changes query after step 1 \(embed\) has read it"),
        (of_kinds("embed", "dense", "kg", "sparse", "read", "budget"), r"step 4 \(sparse\): changes seeds after step 3 \(kg\) has read it"),
        (of_kinds("embed", "dense", "read", "kg", "budget"), r"step 4 \(kg\): changes candidates after step 3 \(read\) has read it"),
        (of_kinds("embed", "dense", "read", "budget", "near_duplicates"), r"step 5 \(near_duplicates\): changes evidence after step 4"),
        (of_kinds("embed", "dense", "read"), 'step 3: no step says what is shown: end with kind = "budget"'),
        ([], "step: expected at least one"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_refused_with_its_place_its_kind_and_its_key(
    tmp_path: Path, steps: list[str], complaint: str
) -> None:
    file = written(tmp_path, *steps)
    with pytest.raises(PipelineError, match=complaint) as caught:
        load_pipeline(file)
    assert file in str(caught.value)


@pytest.mark.parametrize(
    ("head", "complaint"),
    [
        ("", "description: Field required"),
        ('description = "x"\nfoo = 1', "foo: There is no such key; allowed are description, graph, step, without_graph"),
        ('description = "x"\n[seeds]\nkind = "dense"', r"the form before steps were a list: .*\[seeds\] → kind: its kind, after embed"),
        ('description = "x"\n[adaptive]\notherwise = "default"\nmap = {easy = "kg"}', "adaptive.map.easy.*'factual'"),
        ("not toml", "expected a pipeline in TOML"),
    ],
)  # fmt: skip
def test_a_wrong_file_is_refused_with_the_key(tmp_path: Path, head: str, complaint: str) -> None:
    steps = [] if "adaptive" in head else of_kinds("embed", "dense", "read", "budget")
    with pytest.raises(PipelineError, match=complaint):
        load_pipeline(written(tmp_path, *steps, head=head))


def test_a_pattern_stands_for_the_shipped_pipelines_that_match() -> None:
    thesis = listed_pipelines("RAG_*, SimpleKG_*,LLMGraph_*,LlamaIndex_*")
    assert len(thesis) == 15
    assert listed_pipelines("dense,mine.toml,de*") == ["dense", "mine.toml", "default"]
    assert listed_pipelines("all") == pipeline_names()
    with pytest.raises(PipelineError, match="each pipeline once, got dense several times"):
        listed_pipelines("dense,de*,dense")


class Shorter(Step):
    """A step of another package."""

    kind: Literal["shorter"] = "shorter"
    needs: ClassVar = ("evidence",)
    gives: ClassVar = ("evidence",)
    weight: Share = 0.1

    async def __call__(self, state: State, resources: Resources) -> State:
        return state


def entry_points_of(*named: tuple[str, str]) -> dict[str, EntryPoint]:
    return {name: EntryPoint(name, value, registry.ENTRY_POINTS) for name, value in named}


def test_a_step_of_another_package_is_one_like_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = entry_points_of(
        ("shorter", f"{__name__}:Shorter"), ("nothing", "no_such_package:Step"), ("wrong", f"{__name__}:Shorter")
    )
    monkeypatch.setattr(registry, "registered", lambda group: others if group == "kgrag.steps" else {})
    pipeline = pipeline_of(
        written(tmp_path, *of_kinds("embed", "dense", "read"), 'kind = "shorter"; weight = 0.2', *of_kinds("budget"))
    )
    assert pipeline.steps[3] == Shorter(weight=0.2)
    assert "shorter" in kinds()
    with pytest.raises(PipelineError, match=r"step 4 \(shorter\): weight: "):
        load_pipeline(
            written(
                tmp_path, *of_kinds("embed", "dense", "read"), 'kind = "shorter"; weight = 2.0', *of_kinds("budget")
            )
        )
    for kind, complaint in (
        ("nothing", "'nothing' .no_such_package:Step. cannot be loaded"),
        ("wrong", "Step of kind 'wrong'"),
    ):
        with pytest.raises(PipelineError, match=complaint):
            load_pipeline(written(tmp_path, *of_kinds(kind)))


def test_one_name_of_two_packages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from kgrag.common import plugins

    both = [EntryPoint("shorter", value, "kgrag.steps") for value in ("one:Shorter", "other:Shorter")]
    monkeypatch.setattr(plugins, "entry_points", lambda group: both)
    with pytest.raises(InputError, match="Two packages register 'shorter'"):
        plugins.registered("kgrag.steps")
