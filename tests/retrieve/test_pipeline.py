from pathlib import Path

import pytest

from kgrag.errors import PipelineError
from kgrag.retrieve.pipeline import Pipeline, listed_pipelines, load_pipeline, pipeline_names
from kgrag.retrieve.settings import GraphExpansion, LinkExpansion


def pipeline_of(name: str) -> Pipeline:
    pipeline = load_pipeline(name)
    assert isinstance(pipeline, Pipeline)
    return pipeline


def test_every_shipped_pipeline_loads_under_the_name_of_its_file() -> None:
    names = pipeline_names()
    assert {"default", "dense", "hybrid", "hybrid_rrf", "kg", "sparse"} <= set(names)
    assert [load_pipeline(name).name for name in names] == names


def test_the_kg_pipeline_has_the_caps_of_the_thesis() -> None:
    (expansion,) = pipeline_of("kg").expansion
    assert isinstance(expansion, GraphExpansion)
    assert (expansion.entities, expansion.chunks, expansion.neighbours, expansion.hops) == (20, 10, 30, 2)


def test_a_pipeline_may_be_any_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'description = "Mine."\n[seeds]\nkind = "sparse"\n[expansion]\nkind = "links"\nweight = 0.5\n', encoding="utf-8"
    )
    pipeline = pipeline_of(str(file))
    assert pipeline.name == "mine"
    assert isinstance(pipeline.expansion[0], LinkExpansion)


def test_an_unknown_pipeline_is_refused_with_the_known_names() -> None:
    with pytest.raises(PipelineError, match=r"no pipeline 'fancy'.*default.*sparse"):
        load_pipeline("fancy")


def test_a_name_never_reaches_a_file_outside_the_folder() -> None:
    with pytest.raises(PipelineError, match="no pipeline"):
        load_pipeline("../pipelines/default")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('description = "x"\n[seeds]\nkind = "hybrd"\n', "seeds.kind"),
        ('description = "x"\n[seeds]\nkind = "dense"\nalpa = 0.5\n', "seeds.alpa"),
        ('description = "x"\n[seeds]\nkind = "hybrid"\nalpha = 1.5\n', "seeds.alpha"),
        ('description = "x"\n[seeds]\nkind = "dense"\n[expansion]\nkind = "kg"\nhops = 3\n', "expansion.hops"),
        ('description = "x"\n[seeds]\nkind = "dense"\n[context]\ntokens = 0\n', "context.tokens"),
        ('description = "x"\n', "seeds: Field required"),
        (
            'description = "x"\n[seeds]\nkind = "hybrd"\n',
            "'dense', 'sparse', 'hybrid', 'entity', 'community', 'global'",
        ),
        ('description = "x"\n[seeds]\nkind = "dense"\nalpa = 1\n', "allowed are alpha, candidates, coverage"),
        (
            'description = "x"\n[seeds]\nkind = "dense"\nfusion = "sum"\n',
            "seeds.fusion: Input should be 'minmax' or 'rrf'",
        ),
        (
            'description = "x"\nfoo = 1\n[seeds]\nkind = "dense"\n',
            "foo: There is no such key; allowed are adjacent, breadth, context",
        ),
        (
            'description = "x"\n[seeds]\nkind = "dense"\n[[query]]\nkind = "rewrite"\n[[query]]\nkind = "names"\nmost = 99\n',
            "query.1.most: Input should be less than or equal to 20",
        ),
        ('description = "x"\n[adaptive]\notherwise = "default"\nmap = {easy = "kg"}\n', "adaptive.map.easy.*'factual'"),
        ("not toml", "expected a pipeline in TOML"),
    ],
)
def test_a_wrong_pipeline_file_is_refused_with_the_place_of_the_mistake(
    tmp_path: Path, content: str, complaint: str
) -> None:
    file = tmp_path / "wrong.toml"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(PipelineError, match=complaint) as caught:
        load_pipeline(str(file))
    assert str(file) in str(caught.value)


def test_a_pattern_stands_for_the_shipped_pipelines_that_match() -> None:
    thesis = listed_pipelines("RAG_*, SimpleKG_*,LLMGraph_*,LlamaIndex_*")
    assert len(thesis) == 15
    assert listed_pipelines("dense,mine.toml,de*") == ["dense", "mine.toml", "default"]
    assert listed_pipelines("all") == pipeline_names()
