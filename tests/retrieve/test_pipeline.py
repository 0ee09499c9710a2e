from pathlib import Path

import pytest

from kgrag.errors import PipelineError
from kgrag.retrieve.pipeline import GraphExpansion, LinkExpansion, load_pipeline, pipeline_names


def test_every_shipped_pipeline_loads_under_the_name_of_its_file() -> None:
    names = pipeline_names()
    assert {"default", "dense", "hybrid", "hybrid_rrf", "kg", "sparse"} <= set(names)
    assert [load_pipeline(name).name for name in names] == names


def test_the_kg_pipeline_has_the_caps_of_the_thesis() -> None:
    expansion = load_pipeline("kg").expansion
    assert isinstance(expansion, GraphExpansion)
    assert (expansion.entities, expansion.chunks, expansion.neighbours, expansion.hops) == (20, 10, 30, 2)


def test_a_pipeline_may_be_any_toml_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'description = "Mine."\n[seeds]\nkind = "sparse"\n[expansion]\nkind = "links"\nweight = 0.5\n', encoding="utf-8"
    )
    pipeline = load_pipeline(str(file))
    assert pipeline.name == "mine"
    assert isinstance(pipeline.expansion, LinkExpansion)


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
        ('description = "x"\n[seeds]\nkind = "dense"\n[expansion]\nkind = "kg"\nhops = 3\n', "expansion.kg.hops"),
        ('description = "x"\n[seeds]\nkind = "dense"\n[context]\ntokens = 0\n', "context.tokens"),
        ('description = "x"\n', "seeds"),
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
