"""The extractors that ask a model: three through their frameworks as these ship, and kgrag's own. Nothing crashes, nothing vanishes."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from kgrag.errors import InputError, ModelReplyError, ModelUnavailable
from kgrag.extract import NEEDS_MODEL, open_extractor
from kgrag.extract.base import Extractor
from kgrag.extract.by_framework import LOST_BY_FRAMEWORK
from kgrag.extract.grounding import OUTSIDE_SCHEMA, STRANGE_SENTENCES
from kgrag.models.base import Message
from kgrag.settings import Settings
from kgrag.testing import TROUBLES, ScriptedChatModel
from kgrag.types import Chunk, Extraction, Usage

TEXT = "The X-100 board draws 5 mA at 3.3 V over 3.3 kΩ, gives 20,000 MW and has the LPS22HB sensor of Acme, Inc."
TRIPLES = [
    ("X-100", "draws", "5 mA"),
    ("X-100", "has resistance", "3.3 kΩ"),
    ("X-100", "gives", "20,000 MW"),
    ("X-100", "has part", "LPS22HB"),
    ("LPS22HB", "made by", "Acme, Inc."),
]
NAMES = list(dict.fromkeys(end for head, _, tail in TRIPLES for end in (head, tail)))
RELATIONS = {
    ("X-100", "DRAWS", "5 mA"),
    ("X-100", "HAS_RESISTANCE", "3.3 kΩ"),
    ("X-100", "GIVES", "20,000 MW"),
    ("X-100", "HAS_PART", "LPS22HB"),
    ("LPS22HB", "MADE_BY", "Acme, Inc."),
}
NODES = [{"id": str(i), "label": "Thing", "properties": {"name": name}} for i, name in enumerate(NAMES)]
GOOD: dict[str, Any] = {
    "simple_kg": {
        "nodes": NODES,
        "relationships": [
            {
                "type": kind,
                "start_node_id": str(NAMES.index(head)),
                "end_node_id": str(NAMES.index(tail)),
                "properties": {},
            }
            for head, kind, tail in TRIPLES
        ],
    },
    "graph_transformer": {
        "nodes": [{"id": name, "type": "Thing"} for name in NAMES],
        "relationships": [
            {
                "source_node_id": h,
                "source_node_type": "Thing",
                "target_node_id": t,
                "target_node_type": "Thing",
                "type": k,
            }
            for h, k, t in TRIPLES
        ],
    },
    "graph_transformer by prompt": [
        {"head": h, "head_type": "Thing", "relation": k, "tail": t, "tail_type": "Thing"} for h, k, t in TRIPLES
    ],
    "path": "\n".join(f'("{h}", "{k}", "{t}")' for h, k, t in TRIPLES),
    "llm": {
        "entities": [{"name": name, "type": "Thing", "description": ""} for name in NAMES],
        "relations": [{"subject": h, "relation": k, "object": t, "sentence": TEXT} for h, k, t in TRIPLES],
        "quantities": [],
    },
}
KINDS = list(GOOD)
FRAMEWORKS = [kind for kind in KINDS if kind != "llm"]


def chunk(text: str = TEXT, *, number: int = 0) -> Chunk:
    return Chunk(
        id=f"c{number}",
        document_id="d",
        source_id="d",
        position=number,
        title="X-100",
        headings=("Power",),
        text=text,
        tokens=1,
    )


def opened(
    kind: str, replies: Sequence[str | Exception] | Callable[[Any], str], **settings: Any
) -> tuple[Extractor, ScriptedChatModel]:
    name, _, by_prompt = kind.partition(" by ")
    model = ScriptedChatModel(replies)
    mode = {"transformer_mode": "prompt"} if by_prompt else {}
    return open_extractor(name, model=model, settings=Settings(**mode, **settings)), model


def extracted(kind: str, *replies: str | Exception, **settings: Any) -> Extraction:
    extractor, _ = opened(kind, list(replies), **settings)
    return asyncio.run(extractor.extract(chunk()))


def good(kind: str) -> str:
    return GOOD[kind] if isinstance(GOOD[kind], str) else json.dumps(GOOD[kind], ensure_ascii=False)


def said(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {(r.head.name, r.type, r.tail.name) for r in extraction.relations}


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_reply_comes_out_as_the_text_writes_it(kind: str) -> None:
    extraction = extracted(kind, good(kind))
    assert said(extraction) == RELATIONS
    assert {e.name for e in extraction.entities} == set(NAMES)
    assert all(r.grounded for r in extraction.relations)
    lost = extraction.remarks.get(LOST_BY_FRAMEWORK, 0)
    # LlamaIndex divides triplets at commas: it drops those with "20,000 MW" and "Acme, Inc.".
    assert (extraction.state, lost) == (("mended", 2) if kind == "path" else ("ok", 0))
    assert extraction.chunk_id == "c0"
    assert extraction.usage.calls == 1
    assert next(e for e in extraction.entities if e.name == "X-100").role == "title"


SHIPPED = {
    "simple_kg": "You are a top-tier algorithm designed for extracting\ninformation in structured formats to build a knowledge graph.",
    "graph_transformer": "# Knowledge Graph Instructions for GPT-4",
    "graph_transformer by prompt": "Adam is a software engineer in Microsoft since 2009",
    "path": "(Philz, is, coffee shop)",
    "llm": "TPR-40 Barometric Pressure Sensor",
}


def prompt_of(model: ScriptedChatModel) -> str:
    return "\n".join(message.content for message in model.calls[0])


@pytest.mark.parametrize("kind", KINDS)
def test_the_fingerprint_is_of_the_prompt_too(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Extract things.", encoding="utf-8")
    prompts = [opened(kind, [], prompt=prompt)[0].fingerprint for prompt in (None, "kgrag", str(file))]
    assert len(set(prompts)) == (2 if kind == "llm" else 3), "kgrag's prompt is the own one of llm"
    assert opened(kind, [])[0].fingerprint == prompts[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prompt", [None, "kgrag", "file"])
def test_the_chunk_is_in_the_prompt_that_was_chosen(kind: str, prompt: str | None, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text('Extract {"json": true} things.\nThanks.', encoding="utf-8")
    extractor, model = opened(kind, [good(kind)], prompt=str(file) if prompt == "file" else prompt)
    asyncio.run(extractor.extract(chunk()))
    asked = prompt_of(model)
    assert TEXT in asked and len(model.calls) == 1
    assert (SHIPPED[kind] in asked) == (prompt is None or kind == "llm")
    assert ("Write every name exactly as the text writes it" in asked) == (
        prompt == "kgrag" or (kind == "llm" and not prompt)
    )
    assert ('Extract {"json": true} things.' in asked) == (prompt == "file")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("trouble", sorted(TROUBLES))
def test_every_bad_reply_is_mended_partial_or_failed_with_its_reason(kind: str, trouble: str) -> None:
    bad = str(TROUBLES[trouble](GOOD[kind]).reply)
    extractor, _ = opened(kind, lambda _: bad)
    try:
        extraction = asyncio.run(extractor.extract(chunk()))
    except ModelReplyError as error:
        assert error.reply == bad and error.usage.calls >= (bad == "")
        assert trouble in ("empty", "wrong_types", "truncated")
    else:
        # What is left out there is a description or a sentence: the model's own check by schema sees that, the reading needs neither.
        harmless = kind == "llm" and trouble == "wrong_arity"
        assert harmless or (extraction.state in ("mended", "partial") and extraction.reason)
        if trouble in ("fenced", "in_prose"):
            assert said(extraction) == RELATIONS
        assert said(extraction) <= RELATIONS or trouble in ("wrong_types", "wrong_arity")


@pytest.mark.parametrize("kind", KINDS)
def test_a_reply_that_is_cut_off_is_partial_and_names_what_was_lost(kind: str) -> None:
    cut = good(kind)[: int(len(good(kind)) * 0.8)]
    extractor, model = opened(kind, [ModelReplyError("scripted: cut off.", reply=cut, usage=Usage(calls=1))])
    extraction = asyncio.run(extractor.extract(chunk()))
    assert extraction.state == "partial" and "cut off" in extraction.reason
    ends = {(head, tail) for head, _, tail in said(extraction)}
    assert 0 < len(ends) < 5 and ends < {(head, tail) for head, _, tail in RELATIONS}
    assert len(model.calls) == extraction.usage.calls == 1


FRAMEWORKS_LOSE = {
    "simple_kg": {
        "nodes": NODES,
        "relationships": [*GOOD["simple_kg"]["relationships"], {"type": "HAS", "start_node_id": "0"}],
    },
    "graph_transformer": {**GOOD["graph_transformer"], "nodes": [*GOOD["graph_transformer"]["nodes"], "X-100"]},
    "graph_transformer by prompt": [*GOOD["graph_transformer by prompt"], "X-100"],
    "path": GOOD["path"],
}


@pytest.mark.parametrize("kind", FRAMEWORKS)
def test_what_the_frameworks_parser_loses_is_counted_and_kept_unless_as_shipped(kind: str) -> None:
    reply = FRAMEWORKS_LOSE[kind] if isinstance(FRAMEWORKS_LOSE[kind], str) else json.dumps(FRAMEWORKS_LOSE[kind])
    kept = extracted(kind, reply)
    assert said(kept) == RELATIONS and f"{kept.remarks[LOST_BY_FRAMEWORK]} {LOST_BY_FRAMEWORK}" in kept.reason
    if kind == "path":
        shipped = extracted(kind, reply, as_shipped=True)
        assert said(shipped) < RELATIONS and len(shipped.relations) == 3
        assert shipped.state == "partial" and LOST_BY_FRAMEWORK in shipped.reason
    else:  # of one wrong item these lose the whole reply
        with pytest.raises(ModelReplyError, match=LOST_BY_FRAMEWORK) as caught:
            extracted(kind, reply, as_shipped=True)
        assert caught.value.reply == reply and caught.value.usage.calls == 1
    assert opened(kind, [])[0].fingerprint != opened(kind, [], as_shipped=True)[0].fingerprint


def test_a_parser_that_raises_is_named_and_the_reply_is_read() -> None:
    reply = json.dumps({"nodes": [{"id": "0", "label": None, "properties": {"name": "X-100"}}], "relationships": []})
    extraction = extracted("simple_kg", reply)
    assert "neo4j-graphrag raised LLMGenerationError" in extraction.reason
    assert [e.name for e in extraction.entities] == ["X-100"]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in ("simple_kg", "graph_transformer by prompt")])
def test_what_is_lost_a_thousand_times_is_said_once(kind: str) -> None:
    with pytest.raises(ModelReplyError, match=r"a line ends inside a triple \(1000 times\)") as raised:
        extracted(kind, "(X-100, draws\n" * 1_000)
    assert str(raised.value).count("a line ends inside") == 1


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in ("simple_kg", "graph_transformer by prompt")])
def test_a_long_reply_that_is_no_json_is_not_given_to_a_parser_that_repairs_for_minutes(kind: str) -> None:
    lines = "".join(f'("{h}", "{k}", "{t}")\n' for h, k, t in TRIPLES)
    extraction = extracted(kind, lines + "{'" * 50_000)
    assert said(extraction) == RELATIONS
    assert "was not given the reply: it is no JSON, and too long to be repaired" in extraction.reason
    with pytest.raises(ModelReplyError, match="expected entities and relations"):
        extracted(kind, "{'" * 50_000)
    for long in (good(kind) + " " * 50_000, f"```json\n{good(kind)}{' ' * 50_000}\n```"):  # hardly anything to repair
        whole = extracted(kind, long)
        assert "not given" not in whole.reason and said(whole) == RELATIONS


def test_the_own_extractor_asks_for_quantities_with_condition_and_sentence() -> None:
    text = "The supply current is 0.4 mA while measuring.\n\n| Weight | 2 g |"
    quantity = {
        "subject": "X-100",
        "property": "supply current",
        "value": "0.4 mA",
        "condition": "while measuring",
        "sentence": "The supply current is 0.4 mA while measuring.",
    }
    invented = {**quantity, "property": "weight", "value": "2 g", "condition": "", "sentence": "It weighs 2 grams."}
    reply = json.dumps({"entities": [], "relations": [], "quantities": [quantity, invented]})
    extractor, model = opened("llm", [reply])
    extraction = asyncio.run(extractor.extract(chunk(text)))
    current, weight = extraction.relations
    assert (current.head.name, current.type, current.tail.name, current.tail.type) == (
        "X-100",
        "HAS_VALUE",
        "0.4 mA",
        "Quantity",
    )
    assert current.description == "supply current, while measuring: The supply current is 0.4 mA while measuring."
    assert current.grounded and weight.description == "weight"
    assert extraction.remarks == {STRANGE_SENTENCES: 1}
    system, user = model.calls[0]
    assert "Section: Power" in user.content and "X-100" not in user.content.partition("Text:")[2]
    other, asked = opened("llm", [reply])
    asyncio.run(other.extract(chunk("Another text.")))
    assert asked.calls[0][0] == system, "what is constant comes first, and is the same for every chunk"


def test_gleaning_asks_once_more_and_adds_what_was_left_out() -> None:
    first, second = ({**GOOD["llm"], "relations": [relation]} for relation in GOOD["llm"]["relations"][:2])
    extractor, model = opened("llm", [json.dumps(first), json.dumps(second)], gleaning=True)
    extraction = asyncio.run(extractor.extract(chunk()))
    assert len(extraction.relations) == 2 and extraction.usage.calls == len(model.calls) == 2
    assert [m.role for m in model.calls[1]] == ["system", "user", "assistant", "user"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_there_is_nothing_is_empty_and_not_asked_again(kind: str) -> None:
    nothing = {"path": "NONE", "graph_transformer by prompt": "[]"}.get(kind, '{"nodes": [], "relationships": []}')
    extraction = extracted(kind, nothing)
    assert (extraction.state, extraction.entities, extraction.relations) == ("empty", (), ())


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_is_away_is_an_error_and_no_empty_chunk(kind: str) -> None:
    with pytest.raises(ModelUnavailable, match="away"):
        extracted(kind, ModelUnavailable("away"))


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_at_once_do_not_mix(kind: str) -> None:
    def reply(messages: Sequence[Message]) -> str:
        number = re.findall(r"part (\d+)", messages[-1].content)[0]
        return good(kind).replace("LPS22HB", f"P{number}")

    extractor, _ = opened(kind, reply)

    async def all_at_once() -> list[Extraction]:
        return await asyncio.gather(
            *(extractor.extract(chunk(f"{TEXT} It is part {i}, P{i}.", number=i)) for i in range(30))
        )

    for i, extraction in enumerate(asyncio.run(all_at_once())):
        assert extraction.chunk_id == f"c{i}"
        assert ("X-100", "HAS_PART", f"P{i}") in said(extraction) and len(extraction.relations) == 5


SCHEMA = {
    "entities": ["Board", {"label": "Part", "description": "what is on a board"}],
    "relations": ["HAS_PART"],
    "patterns": [["Board", "HAS_PART", "Part"]],
}


@pytest.fixture
def schema_file(tmp_path: Path) -> str:
    file = tmp_path / "schema.json"
    file.write_text(json.dumps(SCHEMA))
    return str(file)


TYPED = [("X-100", "board", "has part", "LPS22HB", "PART"), ("X-100", "Board", "DRAWS", "5 mA", "Quantity")]


@pytest.mark.parametrize("kind", ["simple_kg", "graph_transformer", "graph_transformer by prompt", "llm"])
def test_a_schema_is_told_and_kept_and_what_is_outside_is_counted(kind: str, schema_file: str) -> None:
    rows = [{"head": h, "head_type": a, "relation": k, "tail": t, "tail_type": b} for h, a, k, t, b in TYPED]
    extractor, model = opened(kind, [json.dumps(rows)] * 2, extraction_schema=schema_file)
    extraction = asyncio.run(extractor.extract(chunk()))
    assert said(extraction) == {("X-100", "HAS_PART", "LPS22HB")}
    assert {(e.name, e.type) for e in extraction.entities} == {("X-100", "Board"), ("LPS22HB", "Part")}
    assert extraction.remarks[OUTSIDE_SCHEMA] >= 1
    # LangChain tells the types in the tool's schema, or in the prompt; without descriptions.
    assert kind == "graph_transformer" or "HAS_PART" in prompt_of(model)
    assert ("what is on a board" in prompt_of(model)) == (kind in ("simple_kg", "llm"))
    assert extractor.fingerprint != opened(kind, [])[0].fingerprint


def test_properties_that_a_transformer_gives_are_kept_as_descriptions() -> None:
    reply = {
        "nodes": [
            {"id": "X-100", "type": "Board", "properties": [{"key": "supply", "value": "3.3 V"}]},
            {"id": "LPS22HB", "type": "Part"},
        ],
        "relationships": [
            {
                "source_node_id": "X-100",
                "source_node_type": "Board",
                "target_node_id": "LPS22HB",
                "target_node_type": "Part",
                "type": "HAS_PART",
                "properties": [{"key": "description", "value": "It has one."}],
            }
        ],
    }
    extraction = extracted("graph_transformer", json.dumps(reply), node_properties=("supply",))
    assert extraction.entities[0].description == "supply: 3.3 V"
    assert extraction.relations[0].description == "It has one."
    with pytest.raises(InputError, match="prompt mode"):
        opened("graph_transformer by prompt", [], node_properties=("supply",))


def test_path_asks_for_as_many_triplets_as_are_set_and_keeps_more() -> None:
    extractor, model = opened("path", [good("path")], max_paths_per_chunk=3)
    extraction = asyncio.run(extractor.extract(chunk()))
    assert "up to 3 knowledge triplets" in model.calls[0][0].content
    assert len(extraction.relations) == 5


def test_instructions_in_the_text_cannot_make_labels_or_break_out_of_them() -> None:
    types = {"head_type": "Chunk`) DETACH DELETE (n", "relation": "`]->(x) DELETE x //", "tail_type": "__Entity__"}
    extraction = extracted("graph_transformer by prompt", json.dumps([{"head": "X-100", "tail": "LPS22HB"} | types]))
    for identifier in (*(e.type for e in extraction.entities), *(r.type for r in extraction.relations)):
        assert "`" not in identifier and not identifier.startswith("__")


@pytest.mark.parametrize("name", NEEDS_MODEL)
def test_an_extractor_that_asks_a_model_says_so_where_there_is_none(name: str) -> None:
    with pytest.raises(InputError, match="--model"):
        open_extractor(name)


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("simple_kg", "neo4j_graphrag", "neo4j-graphrag"),
        ("graph_transformer", "langchain_experimental", "langchain"),
        ("path", "llama_index", "llama-index"),
    ],
)
def test_a_missing_framework_names_its_extra(name: str, package: str, extra: str) -> None:
    script = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from kgrag.errors import ModelMissing\nfrom kgrag.extract import open_extractor\nfrom kgrag.testing import ScriptedChatModel\n"
        f"try:\n    open_extractor({name!r}, model=ScriptedChatModel([]))\nexcept ModelMissing as error:\n    print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert f"kgrag[{extra}]" in out


def test_the_experimental_part_of_neo4j_graphrag_is_imported_in_one_place_at_most() -> None:
    package = Path(__file__).parents[2] / "kgrag"
    users = [
        p
        for p in package.rglob("*.py")
        if re.search(r"^\s*(?:from|import) neo4j_graphrag", p.read_text(encoding="utf-8"), re.M)
    ]
    assert [p.relative_to(package).as_posix() for p in users] == ["models/frameworks/neo4j_graphrag.py"]


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("{}", "entities"),
        ("[", "JSON or TOML"),
        ('{"entities": ["A"], "patterns": [["A", "R", "B"]]}', "'R'"),
        ('{"entities": "A"}', "list"),
    ],
)
def test_a_wrong_schema_file_is_refused_with_what_is_wrong(tmp_path: Path, content: str, wrong: str) -> None:
    file = tmp_path / "schema.json"
    file.write_text(content)
    with pytest.raises(InputError, match=wrong):
        opened("simple_kg", [], extraction_schema=str(file))


def test_a_schema_is_induced_from_samples_once_and_then_used() -> None:
    induced = {
        "node_types": [
            {"label": "Board", "properties": [{"name": "name", "type": "STRING"}]},
            {"label": "Part", "properties": [{"name": "name", "type": "STRING"}]},
        ],
        "relationship_types": [{"label": "HAS_PART"}],
        "patterns": [],
        "constraints": [],
    }
    rows = [{"head": h, "head_type": a, "relation": k, "tail": t, "tail_type": b} for h, a, k, t, b in TYPED]
    extractor, model = opened("simple_kg", [json.dumps(induced), json.dumps(rows)], extraction_schema="induced")
    extractor.prepare([], [chunk(number=i) for i in range(20)])
    before = extractor.fingerprint
    usage = asyncio.run(extractor.induce())
    extraction = asyncio.run(extractor.extract(chunk()))
    assert usage.calls == 1 and len(model.calls) == 2 and extractor.fingerprint != before
    assert said(extraction) == {("X-100", "HAS_PART", "LPS22HB")}


@pytest.mark.parametrize(
    "replies",
    [
        ['Here:\n```json\n{"node_types": [{"label": "Board"}], "relationship_types": ["HAS_PART"]}\n```'],
        ["no idea", '{"entities": ["Board"], "relations": ["HAS_PART"]}'],
        ['{"node_types": ["Board"], "relationship_types": ["HAS_PART"], "patterns": [["Board", "MADE_BY", "X"]]}'],
    ],
)
def test_a_schema_is_taken_however_it_is_written(replies: list[str]) -> None:
    extractor, model = opened("simple_kg", replies, extraction_schema="induced")
    extractor.prepare([], [chunk()])
    asyncio.run(extractor.induce())
    assert (extractor.schema.entity_types, extractor.schema.relation_types) == ((("Board", ""),), (("HAS_PART", ""),))
    assert len(model.calls) == len(replies)


def test_a_model_that_gives_no_schema_is_asked_twice_and_fails_with_its_reply() -> None:
    extractor, _ = opened("simple_kg", ["no idea", "none"], extraction_schema="induced")
    extractor.prepare([], [chunk()])
    with pytest.raises(ModelReplyError, match="--schema FILE") as caught:
        asyncio.run(extractor.induce())
    assert (caught.value.reply, caught.value.usage.calls) == ("none", 2)
