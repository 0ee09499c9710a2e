"""Reading raw replies: what is kept, what is put right, what is reported as lost."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.extract.json_values import Twice
from kgrag.extract.named_rows import read_yaml
from kgrag.extract.replies import read_reply
from kgrag.extract.statements import Stated, Statement

GRAPH = {
    "nodes": [
        {"id": "0", "label": "Board", "properties": {"name": "X-100", "supply": "3.3 V"}},
        {"id": "1", "label": "Part", "properties": {"name": "LQ22", "description": "a sensor"}},
    ],
    "relationships": [
        {"type": "HAS_PART", "start_node_id": "0", "end_node_id": "1", "properties": {"description": "has one"}}
    ],
}
HAS_PART = Statement("X-100", "HAS_PART", "LQ22", "Board", "Part", "has one")
TRIPLE = {"head": "X-100", "head_type": "Board", "relation": "HAS_PART", "tail": "LQ22", "tail_type": "Part"}


def test_a_clean_graph_is_read_whole_and_nothing_is_said_about_it() -> None:
    stated = read_reply(json.dumps(GRAPH))
    assert stated.statements == [HAS_PART]
    assert [(n.name, n.type, n.description) for n in stated.named] == [
        ("X-100", "Board", "supply: 3.3 V"),
        ("LQ22", "Part", "a sensor"),
    ]
    assert (stated.form, stated.reason) == ("json", "")


@pytest.mark.parametrize("quotes", ['""', "＂＂", "“”"])
def test_json_with_full_width_punctuation_is_read_and_names_keep_theirs(quotes: str) -> None:
    triple = {**TRIPLE, "tail": "电源：主，副"}
    inside = json.dumps({"triples": [triple]}, ensure_ascii=False).split('"')
    signs = str.maketrans("{}[]:,", "｛｝［］：，")
    written = [part.translate(signs) if n % 2 == 0 else quotes[0] + part + quotes[1] for n, part in enumerate(inside)]
    stated = read_reply("".join(written))
    assert [(one.head, one.tail) for one in stated.statements] == [("X-100", "电源：主，副")]
    assert stated.reason == "the reply had full-width punctuation"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (f"```json\n{json.dumps(GRAPH)}\n```", "fence"),
        (f"Sure! Here it is:\n\n{json.dumps(GRAPH, indent=1)}\n\nAnything else?", "words"),
        (f"Sure:\n```\n{json.dumps(GRAPH)}\n```\nBye", "fence"),
    ],
)
def test_fences_and_words_around_json_are_taken_off_without_loss(reply: str, said: str) -> None:
    stated = read_reply(reply)
    assert stated.statements == [HAS_PART]
    assert stated.lost == [] and said in stated.reason


@given(st.integers(min_value=1))
def test_a_reply_that_is_cut_off_anywhere_keeps_whole_names_only_and_says_so(at: int) -> None:
    triples = [{**TRIPLE, "tail": f"LQ{i}"} for i in range(20, 30)]
    text = json.dumps(triples)
    cut = text[: at % len(text)]
    stated = read_reply(cut)
    kept = [(s.head, s.type, s.tail) for s in stated.statements]
    assert kept == [("X-100", "HAS_PART", t["tail"]) for t in triples][: len(kept)]
    assert cut.count("}") <= len(kept) <= cut.count("}") + 1
    assert {n.name for n in stated.named} <= {"X-100"}
    assert stated.lost


@given(st.text(max_size=300) | st.text(alphabet='{}[]()",:ab1\n<|>#`', max_size=300))
def test_no_reply_crashes_the_reading_and_none_vanishes(reply: str) -> None:
    stated = read_reply(reply, chunk_text="a b")
    assert stated.form is not None or stated.lost


def test_wrong_types_are_read_where_their_meaning_is_plain_and_reported_where_not() -> None:
    stated = read_reply(
        json.dumps(
            [TRIPLE, {**TRIPLE, "tail": 3.3}, {**TRIPLE, "tail": ["A", "B"]}, {**TRIPLE, "tail": None}, 7, "text"]
        )
    )
    assert [s.tail for s in stated.statements] == ["LQ22", "3.3", "A", "B"]
    assert stated.lost == [
        "a relation has no tail",
        "a relation is not an object",
        "an item is text where an object was expected",
    ]


def test_a_relation_to_a_node_that_is_not_there_is_reported() -> None:
    broken = {**GRAPH, "relationships": [{"type": "HAS", "start_node_id": "0", "end_node_id": "9"}]}
    stated = read_reply(json.dumps(broken))
    assert stated.statements == [] and "a relation names a node that is not there" in stated.lost


def test_triples_of_two_four_and_five_parts_are_not_lost() -> None:
    stated = read_reply(
        json.dumps([["Adam", "is", "nephew of", "Alan"], ["A", "joins", "B", "at", "C"], ["D", "is unpolluted"]])
    )
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [
        ("Adam", "is nephew of", "Alan"),
        ("A", "joins", "B"),
        ("B", "at", "C"),
    ]
    assert [(n.name, n.description) for n in stated.named] == [("D", "is unpolluted")]
    assert "two parts" in stated.reason


def test_triple_lines_keep_commas_brackets_and_units_in_names() -> None:
    stated = read_reply(
        '(Portenta H7 (Lite), has, USB-C)\n1. ("20,000 MW", "is made in", "Texas, USA")\n- (Culture, Society and Men, published by, Press)',
        chunk_text="... Culture, Society and Men is published by the Press ...",
    )
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [
        ("Portenta H7 (Lite)", "has", "USB-C"),
        ("20,000 MW", "is made in", "Texas, USA"),
        ("Culture, Society and Men", "published by", "Press"),
    ]
    assert stated.reason == ""


def test_graphrag_records_are_read_with_their_types_and_descriptions() -> None:
    stated = read_reply(
        '("entity"<|>"X-100"<|>"board"<|>"A board.")##\n("relationship"<|>"X-100"<|>"LQ22"<|>"It has (one) LQ22."<|>9)##\n<|COMPLETE|>'
    )
    assert stated.statements == [Statement("X-100", "related to", "LQ22", "board", "", "It has (one) LQ22.")]
    assert stated.named[0].type == "board"


@pytest.mark.parametrize("reply", ["[]", '{"nodes": [], "relationships": []}', "NONE", "No triplets found."])
def test_an_answer_that_there_is_nothing_is_an_answer(reply: str) -> None:
    stated = read_reply(reply)
    assert stated.form is not None and not stated.size and not stated.lost


@pytest.mark.parametrize(
    "reply", ["", "   ", "I am sorry, I cannot do that.", '{"title": "report", "findings": [{"x": 1}]}']
)
def test_a_reply_that_is_no_answer_has_no_form_and_a_reason(reply: str) -> None:
    stated = read_reply(reply)
    assert stated.form is None and stated.lost


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"head":', "(", '(a, "b', '{"nodes":['])
@pytest.mark.parametrize("depth", [300, 990, 50_000])
def test_brackets_without_end_are_no_crash(opening: str, depth: int) -> None:
    for reply in (opening * depth, "[" * depth + "]" * depth, '[{"head":' + "[" * depth + '"x"' + "]" * depth + "}]"):
        stated = read_reply(reply, chunk_text="a b")
        assert stated.form is not None or stated.lost


def test_a_key_that_comes_twice_in_an_object_loses_nothing_silently() -> None:
    twice = '{"nodes": [{"id": "A"}], "nodes": [{"id": "B"}], "relationships": [{"head": "A", "type": "HAS", "tail": "B", "tail": "C"}]}'
    stated = read_reply(twice)
    assert [n.name for n in stated.named] == ["A", "B"]
    assert [s.tail for s in stated.statements] == ["B", "C"]
    assert "came twice" in stated.reason and not stated.lost
    assert "the first was kept" in read_reply('[{"head": "A", "type": "HAS", "type": "IS", "tail": "B"}]').lost[0]


WRITTEN = json.dumps([TRIPLE])


@pytest.mark.parametrize("reply", [json.dumps(WRITTEN), json.dumps(WRITTEN)[1:-1], json.dumps(json.dumps(GRAPH))])
def test_json_that_was_written_as_a_string_is_read(reply: str) -> None:
    stated = read_reply(reply)
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [("X-100", "HAS_PART", "LQ22")]
    assert "string of JSON" in stated.reason and not stated.lost


@pytest.mark.parametrize(
    "reply",
    [
        WRITTEN.replace('"', "'").replace("}", ", 'x': null"),
        json.dumps(GRAPH)[:-1].replace('"', '\\"'),
        WRITTEN.replace('": "', '" = "'),
    ],
)
def test_json_that_cannot_be_read_gives_no_names_made_of_its_marks(reply: str) -> None:
    stated = read_reply(reply, chunk_text="X-100 LQ22")
    assert not stated.size and stated.form is None and "broken" in stated.reason


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (WRITTEN.replace('"', "”"), "typographic quotation marks"),
        ("Here:\n" + WRITTEN.replace('"', "“"), "typographic quotation marks"),
        (WRITTEN.replace('"', "&quot;"), "HTML"),
        (json.dumps({"name": "extract", "arguments": json.dumps({"triples": [TRIPLE]})}), ""),
        (f"<tool_call>{json.dumps({'name': 'extract', 'arguments': {'triples': [TRIPLE]}})}</tool_call>", "words"),
        ("triples:\n- subject: X-100\n  predicate: HAS_PART\n  object: LQ22\n", "YAML"),
        ("```yaml\nrelations:\n  - {head: X-100, relation: HAS_PART, tail: LQ22}\n```", "YAML"),
        ("Subject: X-100\nPredicate: HAS_PART\nObject: LQ22", "YAML"),
        ("source,target,relation\nX-100,LQ22,HAS_PART\n", "table"),
        ("| Source | Target | Relation |\n|---|---|---|\n| X-100 | LQ22 | HAS_PART |", "table"),
        ("MERGE (a:Board {name: 'X-100'})\nMERGE (b:Part {name: \"LQ22\"})\nMERGE (a)-[:HAS_PART]->(b)", "Cypher"),
        ("CREATE (b:Part {name: 'LQ22'})<-[r:HAS_PART]-(:Board {name: 'X-100', note: 'a, b)'})", "Cypher"),
        ("X-100 -[HAS_PART]-> LQ22", ""),
        ("1. (X-100)-[:HAS_PART]->(LQ22)", ""),
        ("- X-100 --HAS_PART--> LQ22", ""),
        ("- **X-100** HAS_PART **LQ22**", ""),
        ("2. X-100 – HAS_PART – LQ22", ""),
        (json.dumps({"nodes": ["X-100", "LQ22"], "edges": [["X-100", "LQ22", "HAS_PART"]]}), ""),
        (WRITTEN.replace('"', "'").replace("}", ", 'x': null}"), "JavaScript"),
        (WRITTEN.replace("{", "{ // a thing\n"), "JavaScript"),
        ("```json5\n{relations: [{head: 'X-100', type: 'HAS_PART', tail: 'LQ22',},],}\n```", "JavaScript"),
        ("- **Subject**: X-100\n  **Predicate**: HAS_PART\n  **Object**: LQ22", "names"),
        ("1. Subject: X-100\n2. Predicate: HAS_PART\n3. Object: LQ22", "names"),
        ("<triple><subject>X-100</subject><predicate>HAS_PART</predicate><object>LQ22</object></triple>", "names"),
        (json.dumps({"X-100": {"HAS_PART": ["LQ22"]}, "LQ22": {"note": "nothing"}}), ""),
        (
            json.dumps(
                {
                    "nodes": [{"id": 1, "label": "X-100"}, {"id": 2, "label": "LQ22"}],
                    "edges": [{"from": 1, "to": 2, "label": "HAS_PART"}],
                }
            ),
            "",
        ),
        (json.dumps([{"entity": "X-100", "type": "Board", "relations": [{"type": "HAS_PART", "target": "LQ22"}]}]), ""),
        (json.dumps([{"Entity 1": "X-100", "relation": "HAS_PART", "Entity 2": "LQ22"}]), ""),
        (json.dumps([{"startNode": "X-100", "relationType": "HAS_PART", "endNode": "LQ22"}]), ""),
        (json.dumps([{"s": "X-100", "p": "HAS_PART", "o": "LQ22"}]), ""),
        (json.dumps([["X-100", "Board", "HAS_PART", "LQ22", "Part"]]), ""),
        ("(X-100, Board, HAS_PART, LQ22, Part)", ""),
        ("HAS_PART(X-100, LQ22)", ""),
        ("HAS_PART('X-100', 'LQ22').", ""),
        ("X-100,HAS_PART,LQ22", ""),
    ],
)
def test_other_notations_give_the_same_relation(reply: str, said: str) -> None:
    stated = read_reply(reply, chunk_text="The X-100 carries an LQ22.")
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [("X-100", "HAS_PART", "LQ22")]
    assert said in stated.reason and not stated.lost


def test_blocks_of_lines_with_the_same_keys_are_a_relation_each() -> None:
    reply = "Subject: X-100\nPredicate: draws\nObject: 5 mA\n\nSubject: X-100\nPredicate: weighs\nObject: 3 g\n"
    assert [(s.head, s.type, s.tail) for s in read_reply(reply).statements] == [
        ("X-100", "draws", "5 mA"),
        ("X-100", "weighs", "3 g"),
    ]


def test_the_types_that_follow_the_ends_of_a_triple_are_theirs() -> None:
    read = read_reply('[["X-100", "Board", "HAS_PART", "LQ22", "Part"]]', chunk_text="The X-100 carries an LQ22.")
    assert read.statements == [Statement("X-100", "HAS_PART", "LQ22", "Board", "Part")]
    path = read_reply('[["X-100", "has", "LQ22", "made by", "Acme"]]', chunk_text="The X-100 has an LQ22 made by Acme.")
    assert [(one.head, one.tail) for one in path.statements] == [("X-100", "LQ22"), ("LQ22", "Acme")]


def test_an_edge_to_a_node_that_was_not_drawn_is_reported() -> None:
    stated = read_reply(
        '{"nodes": [{"id": 1, "label": "X-100"}], "edges": [{"from": 1, "to": 2, "label": "HAS_PART"}]}'
    )
    assert not stated.statements and "a relation names a node that is not there" in stated.lost


def test_what_of_cypher_has_no_name_or_is_cut_off_is_reported() -> None:
    cut = read_reply("MERGE (a:Board {name: 'X-100'})\nMERGE (b:Part {name: 'LQ22'})\nMERGE (a)-[:HAS_PART]->(b")
    assert [n.name for n in cut.named] == ["X-100", "LQ22"] and "cut off" in cut.reason
    assert "has no name" in read_reply("MERGE (a {name: 'X-100'})-[:HAS_PART]->(b)").reason
    assert not read_reply("MERGE (a)-[:HAS_PART]->(b)").size


def test_words_before_blocks_of_lines_lose_none_of_them() -> None:
    stated = read_reply("Sure - two:\nhere\n\nSubject: X-100\nPredicate: draws\nObject: 5 mA")
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [("X-100", "draws", "5 mA")]


def test_a_row_with_other_cells_than_the_header_is_reported() -> None:
    stated = read_reply("head,relation,tail\nX-100,draws,5 mA\nX-100,weighs\n")
    assert [s.tail for s in stated.statements] == ["5 mA"]
    assert stated.lost == ["a row of the table has other cells than its header"]


def test_json_beside_cypher_is_read() -> None:
    stated = read_reply(f"CREATE (a:Board {{name: 'Y'}})\nAnd as JSON:\n{WRITTEN}")
    assert [(s.head, s.tail) for s in stated.statements] == [("X-100", "LQ22")]


def test_records_of_lightrag_are_read() -> None:
    stated = read_reply(
        "entity<|#|>X-100<|#|>Board<|#|>a board\nentity<|#|>LQ22<|#|>Part<|#|>a sensor\n"
        "relation<|#|>X-100<|#|>LQ22<|#|>parts<|#|>X-100 carries an LQ22\n<|COMPLETE|>"
    )
    assert [(n.name, n.type) for n in stated.named] == [("X-100", "Board"), ("LQ22", "Part")]
    assert stated.statements == [
        Statement("X-100", "related to", "LQ22", "Board", "Part", "X-100 carries an LQ22; parts")
    ]


@pytest.mark.parametrize(
    "reply",
    [
        "The X-100 - a board with many parts - is made here.",
        "Note: the text names no relation.\nSubject: none",
        "CREATE is a word, and (MERGE) too.",
        "MERGE (a)-[:HAS_PART]->(b)",
        "triples: &a [*a, *a]",
        "a: &x [1]\ntriples: [*x, *x]",
        "head, and so on, tail\nSo it is.",
        "The X-100, as all know, is good",
        '{"X-200": {"HAS_PART": "LQ22"}}',
        '{"error": {"message": "X-100 is busy", "type": "rate limit"}}',
        "f(X-100)",
    ],
)
def test_prose_that_looks_like_another_notation_gives_no_relation(reply: str) -> None:
    stated = read_reply(reply, chunk_text="The X-100 carries an LQ22.")
    assert not stated.statements and (stated.lost or stated.mended)


def test_the_header_of_a_table_of_triples_is_no_triple() -> None:
    stated = read_reply("| head | relation | tail |\n|---|:---:|---|\n| X-100 | draws | 5 mA |\n")
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [("X-100", "draws", "5 mA")]


def test_what_is_no_number_is_no_name() -> None:
    stated = read_reply(
        '[{"head": "X-100", "relation": "DRAWS", "tail": NaN}, {"head": "X-100", "relation": "IS", "tail": Infinity}]'
    )
    assert not stated.statements and "a relation has no tail" in stated.reason


@pytest.mark.parametrize("form", ["{{%s}}", "[{{%s}}]", '{{"triples": [{{%s}}]}}'])
def test_an_object_in_doubled_braces_as_prompts_escape_them_is_read(form: str) -> None:
    stated = read_reply(form % json.dumps(TRIPLE)[1:-1])
    assert [(one.head, one.tail) for one in stated.statements] == [("X-100", "LQ22")]
    assert stated.lost == []


@pytest.mark.parametrize("number", ["9" * 400, "-" + "7" * 4_000, "0x" + "f" * 9_000])
def test_digits_without_end_cost_no_other_item_of_the_reply(number: str) -> None:
    stated = read_reply(f"[{json.dumps(TRIPLE)}, {{'name': {number}}}]".replace('"', "'"))
    assert [(one.head, one.tail) for one in stated.statements] == [("X-100", "LQ22")]


def test_a_relation_between_two_long_lists_is_cut_and_says_so() -> None:
    many = [f"part {number}" for number in range(5_000)]
    stated = read_reply(json.dumps([{"head": many, "relation": "fits", "tail": many}]))
    assert len(stated.statements) == 1_000
    assert stated.lost == ["a relation has 25,000,000 pairs of ends, of which 1,000 were read"]


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps([TRIPLE])[:-1] + "\n" * 150_000 + "...",
        "```\n```" * 25_000,
        "X-100 has parts:" + "\n" * 150_000 + "LQ22",
        "| head | relation | tail |\n" + " " * 150_000 + "x",
        json.dumps({"nodes": [], "relationships": [0] * 60_000}),
        json.dumps([{"nodes": [number]} for number in range(10_000)] + [TRIPLE]),
    ],
    ids=["a list that never ends", "fences", "blank lines", "blanks", "zeros", "graphs"],
)
def test_a_model_that_repeats_itself_without_end_keeps_nobody_waiting(reply: str) -> None:
    stated = read_reply(reply)  # it took minutes
    assert stated.size or stated.lost


def test_a_relation_of_named_parts_that_lacks_one_is_reported() -> None:
    stated = read_reply("Subject: X-100\nPredicate: draws\nObject: 5 mA\n\nSubject: X-100\nPredicate: weighs\n")
    assert [(one.head, one.type, one.tail) for one in stated.statements] == [("X-100", "draws", "5 mA")]
    assert "a relation has no tail" in stated.lost


def test_the_type_of_an_entity_in_xml_is_not_that_of_the_relation_behind_it() -> None:
    stated = read_reply(
        "<entity><name>X-100</name><type>Board</type></entity>"
        "<relation><source>X-100</source><target>LQ22</target><type>HAS_PART</type></relation>"
    )
    assert [(one.head, one.type, one.tail) for one in stated.statements] == [("X-100", "HAS_PART", "LQ22")]


def test_a_tail_below_its_head_and_type_may_stand_without_a_list() -> None:
    stated = read_reply('{"X-100": {"HAS_PART": "LQ22", "LED": []}}', chunk_text="The X-100 carries an LQ22.")
    assert [(one.head, one.type, one.tail) for one in stated.statements] == [("X-100", "HAS_PART", "LQ22")]


def test_a_relation_in_a_wrapper_that_the_chunk_names_is_one_relation() -> None:
    stated = read_reply(json.dumps({"data": TRIPLE}), chunk_text="The data of the X-100: it carries an LQ22.")
    assert [(one.head, one.type, one.tail) for one in stated.statements] == [("X-100", "HAS_PART", "LQ22")]


CHUNK = "The X-100 carries an LQ22, is made by Acme and draws 5 mA."


@pytest.mark.parametrize(
    "reply",
    [
        '```mermaid\ngraph LR\n  A["X-100"] -->|HAS_PART| B[LQ22]\n```',
        "flowchart TD\nA[X-100]\nB(LQ22)\nA -- HAS_PART --> B\nstyle A fill:#fff",
        'digraph G {\n rankdir=LR;\n a [label="X-100"];\n b [shape=box, label="LQ22"];\n a -> b [label="HAS_PART"];\n}',
        "| # | Subject | Predicate | Object |\n|---|---|---|---|\n| 1 | X-100 | HAS_PART | LQ22 |",
        'Here:\n[[relations]]\nhead = "X-100"\ntype = "HAS_PART"\ntail = "LQ22"',
        "- **X-100** → *HAS_PART* → **LQ22**",
        "- X-100\n  - HAS_PART: LQ22",
        "## X-100\n- **HAS_PART**: LQ22",
        "X-100\n├── HAS_PART: LQ22",
        "X-100; HAS_PART; LQ22",
        "X-100: HAS_PART: LQ22",
        "X-100 => HAS_PART => LQ22",
        "<X-100, HAS_PART, LQ22>",
        "（X-100，HAS_PART，LQ22）",
        "Object: LQ22, Subject: X-100, Predicate: HAS_PART",
        'G.add_edge("X-100", "LQ22", relation="HAS_PART")',
        "INSERT INTO facts (head, type, tail) VALUES ('X-100', 'HAS_PART', 'LQ22');",
        "graph = {'edges': [('X-100', 'LQ22', {'relation': 'HAS_PART'})]}",
        '{"tool_calls": [{"id": "c1", "function": {"arguments": "{\\"triples\\": [[\\"X-100\\", \\"HAS_PART\\", \\"LQ22\\"]]}"}}]}',
        '{"choices": [{"message": {"content": "[{\\"head\\": \\"X-100\\", \\"type\\": \\"HAS_PART\\", \\"tail\\": \\"LQ22\\"}]"}}]}',
        '{"graph": {"edges": [{"subjects": ["X-100"], "type": "HAS_PART", "objects": ["LQ22"]}]}, "notes": ["none"]}',
        '{"links": [{"data": {"source": "X-100", "target": "LQ22", "label": "HAS_PART"}}]}',
        '{"triples": ["(X-100, HAS_PART, LQ22)"]}',
        '["X-100 | HAS_PART | LQ22"]',
        '{"relations": {"HAS_PART": [["X-100", "LQ22"]]}}',
        '{"relations": {"r1": {"head": "X-100", "type": "HAS_PART", "tail": "LQ22"}}}',
        '{"relaciones": [{"sujeto": "X-100", "relación": "HAS_PART", "objeto": "LQ22"}]}',
        '[{"主体": "X-100", "关系": "HAS_PART", "客体": "LQ22"}]',
        '[{"head": "X-100", "relation": "HAS\\_PART", "tail": "LQ22"}]',
        '{"relations": [{"head": "X-100", "type": "HAS_PART", "tail": "LQ22"}] /* all */}',
    ],
)
def test_a_relation_is_read_in_whatever_notation_a_model_writes_it(reply: str) -> None:
    stated = read_reply(reply, chunk_text=CHUNK)
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [("X-100", "HAS_PART", "LQ22")]
    assert not stated.lost


@pytest.mark.parametrize(
    "reply",
    [
        '{"entities": {"X-100": {"type": "Board"}, "LQ22": {"type": "Part"}}, "relations": []}',
        '{"entities": {"X-100": "Board", "LQ22": "Part"}, "relations": []}',
        '{"entities": {"Board": ["X-100"], "Part": ["LQ22"]}, "relations": []}',
        '{"entities": [{"X-100": {"type": "Board"}}, {"data": {"id": "LQ22", "type": "Part"}}]}',
        '[[{"name": "X-100", "type": "Board"}], [{"name": "LQ22", "type": "Part"}]]',
        "**Entities:**\n- **X-100** (Board)\n- **LQ22** (Part)",
        '{"nodes": [{"id": "board", "label": "X-100"}, {"id": "sensor", "label": "LQ22"}]}',
        "| Entity | Type |\n|---|---|\n| X-100 | A |\n| LQ22 | B |\n\n| From | Relation | To |\n|---|---|---|\n| X-100 | HAS | LQ22 |",
    ],
)
def test_entities_are_read_in_whatever_notation_a_model_writes_them(reply: str) -> None:
    stated = read_reply(reply, chunk_text=CHUNK)
    assert [named.name for named in stated.named] == ["X-100", "LQ22"]
    assert not stated.lost


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ('{"keywords": ["X-100", "LQ22", "5 mA"]}', "the reply is JSON without entities or relations"),
        ('```mermaid\ngraph LR\n A["X-100"] -->|HAS_PART| B[LQ2', "an arrow of the drawing was not read"),
        ('{"nodes": [{"id": "0", "name": "X-100"}, {"id": "1", "label": "Pa', "the JSON is cut off"),
        (
            '{"nodes": [{"id": "1", "name": "X-100"}, {"id": "1", "name": "LQ22"}],'
            ' "edges": [{"start_node_id": "1", "end_node_id": "1", "type": "HAS"}]}',
            "two entities have one id",
        ),
        ('{"nodes": ["X-100", "LQ22"], "edges": [[0, "HAS_PART", 1]]}', "a relation names a node that is not there"),
    ],
)
def test_what_cannot_be_told_is_reported_and_no_relation_is_made_of_it(reply: str, why: str) -> None:
    stated = read_reply(reply, chunk_text=CHUNK)
    assert not stated.statements and why in stated.reason
    assert {named.name for named in stated.named} <= {"X-100", "LQ22"}


def test_whole_relations_in_one_object_are_not_crossed() -> None:
    stated = read_reply(
        '{"head": "X-100", "type": "HAS", "tail": "LQ22", "head": "X-100", "type": "BY", "tail": "Acme"}'
    )
    assert [(s.type, s.tail) for s in stated.statements] == [("HAS", "LQ22"), ("BY", "Acme")]


def test_what_stands_under_other_keys_of_an_entity_is_kept() -> None:
    stated = read_reply(
        '{"nodes": [{"name": "X-100", "type": "Board", "attributes": {"draws": "5 mA"}, "note": "small",'
        ' "maker": {"name": "Acme", "type": "Company"}}]}'
    )
    assert [named.description for named in stated.named] == ["draws: 5 mA; note: small"]
    assert [(s.head, s.type, s.tail, s.tail_type) for s in stated.statements] == [("X-100", "maker", "Acme", "Company")]


@pytest.mark.parametrize(
    ("item", "value"),
    [('"value": 5, "unit": "mA"', "5 mA"), ('"value": "5 mA", "unit": "mA"', "5 mA"), ('"value": "5"', "5")],
)
def test_a_value_keeps_its_unit(item: str, value: str) -> None:
    for key in ("quantities", "facts"):
        stated = read_reply(f'{{"{key}": [{{"subject": "X-100", "property": "current", {item}}}]}}')
        assert [(s.head, s.tail) for s in stated.statements] == [("X-100", value)]


@pytest.mark.parametrize(
    ("reply", "is_answer"),
    [
        ("The provided text does not contain any entities or relationships.", True),
        ("There are no explicit relations in this passage.", True),
        ("No triplets could be extracted from the given text.", True),
        ("I'm sorry, but I cannot extract any relations from this text.", False),
        ("The X-100 has no fan.", False),
    ],
)
def test_a_sentence_that_there_is_nothing_is_an_answer_and_a_refusal_is_none(reply: str, is_answer: bool) -> None:
    assert (read_reply(reply, chunk_text=CHUNK).form is not None) is is_answer


@pytest.mark.parametrize(
    "reply",
    [
        '{"entities": [{"name": "X-100", "type": "Board"}], "triples": [["X-100", "HAS_PART", "LQ22"]]}',
        "**Entities:**\n- **X-100** (Board)\n\n**Triples:**\n- (X-100, HAS_PART, LQ22)",
    ],
)
def test_an_end_of_a_triple_has_the_type_that_the_reply_gives_its_name(reply: str) -> None:
    (statement,) = read_reply(reply, chunk_text=CHUNK).statements
    assert (statement.head_type, statement.tail_type) == ("Board", "")


@pytest.mark.parametrize(
    ("reply", "triple"),
    [
        ("(June 2, 1801, born in, Salem, Ohio)", ("June 2, 1801", "born in", "Salem, Ohio")),
        ("(Law of Ohio, allows, those to drink with a parent, guardian, or spouse of legal age)", None),
        ("(What Now, Mr. Po?, aired till, May 4, 1977)", ("What Now, Mr. Po?", "aired till", "May 4, 1977")),
    ],
)
def test_the_parts_of_names_with_commas_are_no_types(reply: str, triple: tuple[str, str, str] | None) -> None:
    text = "The Law of Ohio: a parent, guardian. Born June 2, 1801 in Salem, Ohio. What Now, Mr. Po? ran until May 4, 1977."
    (stated,) = read_reply(reply, chunk_text=text).statements
    law = ("Law of Ohio", "allows", "those to drink with a parent, guardian, or spouse of legal age")
    assert (stated.head, stated.type, stated.tail) == (triple or law)


PREFIXES = "@prefix ex: <http://example.org/> .\n"
RDF_XML = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:ex="http://example.org/"'


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (f"Here it is:\n```turtle\n{PREFIXES}ex:X-100 a ex:Board ;\n  ex:HAS_PART ex:LQ22 .\n```", "RDF"),
        ("ex:X-100 ex:HAS_PART ex:LQ22 .", "RDF"),
        (f'{PREFIXES}ex:n1 ex:name "X-100" ; ex:HAS_PART ex:n2 .\nex:n2 ex:label "LQ22"@en .', "RDF"),
        ("<http://e.org/X-100> <http://e.org/HAS_PART> <http://e.org/a#LQ22> <http://e.org/graph> .", "RDF"),
        ("INSERT DATA {\n  ex:X-100 ex:HAS_PART ex:LQ22\n}", "RDF"),
        (f'<rdf:RDF {RDF_XML}><ex:Board rdf:about="#X-100"><ex:HAS_PART rdf:resource="#LQ22"/></ex:Board></rdf:RDF>', "XML"),
        (f'<rdf:RDF {RDF_XML}><rdf:Description rdf:ID="X-100"><ex:HAS_PART>LQ22</ex:HAS_PART></rdf:Description></rdf:RDF>', "XML"),
        (json.dumps({"@graph": [{"@id": "ex:X-100", "@type": "Board", "HAS_PART": [{"@id": "ex:LQ22"}]}]}), "JSON-LD"),
        (json.dumps({"@context": "x", "name": "X-100", "http://e.org/HAS_PART": {"@type": "Part", "name": "LQ22"}}), "JSON-LD"),
        ('<graph><relation head="X-100" type="HAS_PART" tail="LQ22"/></graph>', "XML"),
        ('Graph: <g><node id="1" label="X-100"/><node id="2" label="LQ22"/><edge source="1" target="2" label="HAS_PART"/></g>', "XML"),
        (
            '<graphml><key id="d0" attr.name="relation"/><node id="X-100"/><node id="LQ22"/>'
            '<edge source="X-100" target="LQ22"><data key="d0">HAS_PART</data></edge></graphml>',
            "XML",
        ),
        (
            "<table><tr><th>Head</th><th>Relation</th><th>Tail</th></tr>"
            "<tr><td>X-100</td><td>HAS_PART</td><td><b>LQ22</b></td></tr></table>",
            "table",
        ),
        (
            "\\begin{tabular}{|l|l|l|}\n\\textbf{Head} & Relation & Tail \\\\ \\midrule\n"
            "\\texttt{X-100} & HAS\\_PART & LQ22 \\\\\n\\end{tabular}",
            "table",
        ),
        ("$\\text{X-100} \\xrightarrow{\\text{HAS\\_PART}} \\text{LQ22}$", ""),
        ("<s><triplet> X-100 <subj> LQ22 <obj> HAS_PART</s>", ""),
        ("1. X-100 — HAS_PART → LQ22", ""),
        ("a) X-100 ──HAS_PART──▶ LQ22", ""),
        ("LQ22 <-- HAS_PART -- X-100", ""),
        ("X-100 --> LQ22 : HAS_PART", ""),
        ("- X-100\n  - HAS_PART\n    - LQ22", ""),
        ("relations:\n- head: &x X-100\n  type: HAS_PART\n  tail: &l LQ22\nentities: [*x, *l]", "YAML"),
        ("base: &b\n  head: X-100\n  relation: HAS_PART\nrelations:\n- <<: *b\n  tail: LQ22", "YAML"),
        ('relations = [ { head = "X-100", type = "HAS_PART", tail = "LQ22" }, ]', "TOML"),
    ],
)  # fmt: skip
def test_notations_that_were_made_for_graphs_are_read(reply: str, said: str) -> None:
    stated = read_reply(reply, chunk_text="The X-100 carries an LQ22.")
    assert [(s.head, s.type, s.tail) for s in stated.statements] == [("X-100", "HAS_PART", "LQ22")]
    assert said in stated.reason and not stated.lost


def test_a_head_with_several_tails_says_each() -> None:
    chunk = "The X-100 has an LQ22 and a TB7."
    for reply in (
        f"{PREFIXES}ex:X-100 ex:has ex:LQ22 , ex:TB7 .",
        "<triplet> X-100 <subj> LQ22 <obj> has <subj> TB7 <obj> has",
        "- X-100\n  - has\n    - LQ22\n    - TB7",
        "X-100\n- has: LQ22, TB7",
    ):
        read = read_reply(reply, chunk_text=chunk)
        assert [(s.head, s.type, s.tail) for s in read.statements] == [
            ("X-100", "has", "LQ22"),
            ("X-100", "has", "TB7"),
        ]


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (f"{PREFIXES}ex:X-100 ex:has [ a ex:Part ; ex:label ex:LQ22 ] .", "was not read"),
        (f"{PREFIXES}ex:X-100 ex:has ex:LQ", "cut off"),
        (f"{PREFIXES}_:b0 ex:has ex:LQ22 .", "has no name"),
        ("<triplet> X-100 <subj> LQ2", "cut off"),
        ("<think>\nX-100 has TB7? (X-100, has, TB7) is not", "thoughts alone"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><t><subject>&a;</subject><predicate>has</predicate><object>X</object></t>', "declares entities"),
        ("UNWIND [1] AS row\nMERGE (a {name: row.h})\nMERGE (b {name: row.t})\nMERGE (a)-[:HAS]->(b)", "without a name"),
        ('[{"head": "<head entity>", "relation": "<relation>", "tail": "<tail entity>"}]', "names nothing"),
        ('[{"head": "...", "relation": "...", "tail": "..."}]', "has no head"),
        ("| Relation | has | has |\n| Tail | LQ22 | TB7 |", "no triples"),
        ("The current goes from here → there, and it then → the load.", "no triples"),
        ("It runs - as far as I see - > 3 h.", "no triples"),
    ],
)  # fmt: skip
def test_what_such_notations_do_not_say_whole_is_no_relation(reply: str, said: str) -> None:
    read = read_reply(reply, chunk_text="The X-100 has an LQ22.")
    assert not read.statements and said in read.reason and read.lost


def test_a_name_may_be_nothing_but_signs() -> None:
    read = read_reply('[{"head": "!!!", "relation": "RECORDED", "tail": "÷"}]')
    assert [(s.head, s.tail) for s in read.statements] == [("!!!", "÷")]


def test_thoughts_of_a_recorded_reply_state_nothing() -> None:
    read = read_reply(
        "Hm, (X-100, has, TB7) is not said.\n</think>\n(X-100, has, LQ22)", chunk_text="The X-100 has an LQ22."
    )
    assert [s.tail for s in read.statements] == ["LQ22"]


def test_yaml_that_stands_for_any_amount_of_data_is_not_read() -> None:
    reply = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in range(1, 9):
        reply += f"a{level}: &a{level} [{', '.join(f'*a{level - 1}' for _ in range(10))}]\n"
    assert read_yaml(f"{reply}relations: *a8", Twice(Stated())) is None


def test_a_variable_of_cypher_is_what_it_was_bound_to_last() -> None:
    read = read_reply(
        "CREATE (n:Board {name: 'X-100'});\nMATCH (n:Board {name: 'X-200'}) CREATE (n)-[:HAS]->(m:Part {name: 'LQ22'});"
    )
    assert [(s.head, s.tail) for s in read.statements] == [("X-200", "LQ22")]


def test_a_table_outside_the_fence_of_json_is_read_too() -> None:
    fenced = '```json\n[{"head": "X-100", "relation": "has", "tail": "LQ22"}]\n```'
    read = read_reply(
        f"{fenced}\n\n| head | relation | tail |\n|---|---|---|\n| X-100 | has | LQ22 |\n| X-100 | has | TB7 |"
    )
    assert [s.tail for s in read.statements] == ["LQ22", "TB7"]


def test_words_with_a_colon_within_are_no_rdf() -> None:
    reply = "@prefix ex: <http://e.org/> .\nIt was written at 10:30\nex:PX-7 ex:contains ex:STM32G0 .\n"
    read = read_reply(reply, chunk_text="The PX-7 pump contains an STM32G0.")
    assert [(one.head, one.type, one.tail) for one in read.statements] == [("PX-7", "contains", "STM32G0")]
    assert read.lost == []


def test_a_form_in_a_table_beside_the_json_states_nothing() -> None:
    relation = '```json\n[{"head": "PX-7", "relation": "contains", "tail": "STM32G0"}]\n```\n'
    form = "\n| head | relation | tail |\n|---|---|---|\n| <head entity> | <relation> | <tail entity> |\n"
    read = read_reply(relation + form, chunk_text="The PX-7 pump contains an STM32G0.")
    assert [(one.head, one.tail) for one in read.statements] == [("PX-7", "STM32G0")]
