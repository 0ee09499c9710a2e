from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.sentences import each_sentence, sentences


def texts(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def test_sentences_end_where_a_reader_ends_them() -> None:
    text = (
        'The U.S. army used approx. 3 tanks. He said "Go." Then J. R. Smith left, e.g. today. It has 3.3 V. See Fig. 3.'
    )
    assert texts(text) == [
        "The U.S. army used approx. 3 tanks.",
        'He said "Go."',
        "Then J. R. Smith left, e.g. today.",
        "It has 3.3 V.",
        "See Fig. 3.",
    ]


def test_list_items_and_headings_are_statements_of_their_own() -> None:
    assert texts("## Features\n- 16 MB of flash\n- Wi-Fi and\n  Bluetooth\n") == [
        "Features",
        "16 MB of flash",
        "Wi-Fi and",
        "Bluetooth",
    ]


def test_a_line_that_breaks_in_mid_sentence_goes_on() -> None:
    assert texts("The board has a\nsensor of pressure. It\nworks.") == [
        "The board has a sensor of pressure.",
        "It works.",
    ]


def test_a_line_that_begins_a_setting_does_not_go_on_from_the_line_before() -> None:
    assert texts("default: no (since 5.00)\nlocal = HOST: the address\nretry = yes | no: try again\ndefault: no") == [
        "default: no (since 5.00)",
        "local = HOST: the address",
        "retry = yes | no: try again",
        "default: no",
    ]
    assert texts("The file has the\nfollowing: an address") == ["The file has the following: an address"]


def test_a_table_row_is_shown_with_its_header() -> None:
    row, other = sentences(
        "| Parameter | Min | Unit |\n|:--|--:|---|\n| Supply voltage | 3.3 | V |\n| Current | | mA |"
    )
    assert row.text == "Parameter: Supply voltage; Min: 3.3; Unit: V"
    assert row.cells == (("Parameter", "Supply voltage"), ("Min", "3.3"), ("Unit", "V"))
    assert other.text == "Parameter: Current; Unit: mA"


def test_a_table_in_doclings_triplets_gives_rows_too() -> None:
    text = "2.1 Power\nVIN, Min = 6. VIN, Unit = V. V USB, Min = 4.8. V USB, Unit = V"
    assert texts(text) == ["2.1 Power", "VIN; Min: 6; Unit: V", "V USB; Min: 4.8; Unit: V"]


@given(st.text(alphabet="ab.A |-\n:=,1?", max_size=80))
def test_statements_keep_their_order_and_place(text: str) -> None:
    found = sentences(text)
    assert all(0 <= s.start < s.end <= len(text) for s in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_a_setting_with_its_default_and_what_follows_a_value_begin_anew() -> None:
    text = "Example:\nclient_rate_limit = 1000\nsize_limit (default: 0): The maximal size.\nretry_limit = 3\nis enough"
    assert [one.text for one in sentences(text)] == [
        "Example:",
        "client_rate_limit = 1000",
        "size_limit (default: 0): The maximal size.",
        "retry_limit = 3",
        "is enough",
    ]


def test_a_setting_with_its_value_behind_a_space_and_one_below_a_default_begin_anew() -> None:
    text = "idle 0: Close after N seconds (0 to disable)\ntcp-wait 300: How long to wait\nmax_size on: Whether\nmin_size: Least"
    assert [one.text for one in sentences(text)] == text.split("\n")
    below = "Default: max_size 512 KB\nshared_cache on|off: Whether it is shared."
    assert [one.text for one in sentences(below)] == below.split("\n")
    on = "Whether the larger one of the two is the\nmax-size value: it is not."
    assert [one.text for one in sentences(on)] == [on.replace("\n", " ")]


def test_a_line_that_says_a_default_ends_before_the_next_setting() -> None:
    text = "retry_delay: How long it waits.\nThe default is: 10\nretry_count: How often it tries."
    assert [one.text for one in sentences(text)] == text.split("\n")
    on = "The default is the\nsize: it is kept."
    assert [one.text for one in sentences(on)] == [on.replace("\n", " ")]


def test_a_remark_in_brackets_that_ends_a_line_does_not_go_on_in_the_next_one() -> None:
    text = 'set keep: Keep the file.\n(Of no use with "strict.")\nset mark "letter": The letter of a mark.'
    assert texts(text) == [
        "set keep: Keep the file.",
        '(Of no use with "strict.")',
        'set mark "letter": The letter of a mark.',
    ]
    assert texts("It reads all (files, folders, etc.)\nand writes them.") == [
        "It reads all (files, folders, etc.) and writes them."
    ]


def test_a_mark_that_is_spoken_of_ends_no_sentence() -> None:
    assert texts("A dot . is any letter, ? is the letter before or none, and ! is not. Est-ce vrai ? Oui.") == [
        "A dot . is any letter, ? is the letter before or none, and ! is not.",
        "Est-ce vrai ?",
        "Oui.",
    ]


def test_lines_that_set_a_value_each_are_statements_of_their_own() -> None:
    assert texts("[mail]\nmode = TLS\nport = 993\n") == ["[mail]", "mode = TLS", "port = 993"]
    assert texts("The number n = 3 is\nodd.") == ["The number n = 3 is odd."]


def test_a_comment_that_is_broken_in_mid_sentence_goes_on_in_the_next_line() -> None:
    listing = "# Each file is read once. To read it again\n# is an error:\ninclude b.conf\n# the end\n# Another remark"
    assert texts(listing) == [
        "Each file is read once.",
        "To read it again is an error:",
        "include b.conf",
        "the end",
        "Another remark",
    ]
    assert texts("# Title\n## part of it") == ["Title", "part of it"]


def test_a_setting_of_several_words_with_its_kind_begins_anew_below_a_property_of_another() -> None:
    text = "Default: max load = 20\nmax load at start (G): In amperes.\nIt takes the\nmean load (A): twice."
    assert [one.text for one in sentences(text)] == [
        "Default: max load = 20",
        "max load at start (G): In amperes.",
        "It takes the mean load (A): twice.",
    ]


def test_a_question_of_several_sentences_is_one_with_what_is_said_below_it() -> None:
    text = "Q: I set 20 A, but it trips. Why?: A: Look at the fuse. Then ask. Why not?\n- Does it trip?"
    assert [one.text for one in sentences(text)] == [
        "Q: I set 20 A, but it trips. Why?: A: Look at the fuse.",
        "Then ask.",
        "Why not?",
        "Does it trip?",
    ]


def test_a_setting_with_its_parameters_in_brackets_begins_anew_below_a_remark_without_a_full_stop() -> None:
    text = (
        "always-beep (parameters: [yes/no]; default value: no): It beeps. (example: always-beep yes)\n"
        'cache-file (parameters: <path>; default value: "~/a.db" (see "Files")): Where it is. (example: cache-file b)\n'
        "player (parameters: <command>): What plays. (and so on, as the other\n"
        "ones (see above): nothing)"
    )
    assert texts(text) == [
        "always-beep (parameters: [yes/no]; default value: no): It beeps.",
        "(example: always-beep yes)",
        'cache-file (parameters: <path>; default value: "~/a.db" (see "Files")): Where it is.',
        "(example: cache-file b)",
        "player (parameters: <command>): What plays.",
        "(and so on, as the other ones (see above): nothing)",
    ]


def test_a_long_table_in_two_parts_side_by_side_has_two_rows_in_a_line() -> None:
    text = "| | Wells | | Wells |\n|---|---|---|---|\n| North | 11 | South | 100 |\n| West | 2 | | |"
    found = sentences(text)
    assert [sentence.text for sentence in found] == ["North; Wells: 11", "South; Wells: 100", "West; Wells: 2"]
    assert text[found[1].start : found[1].end].strip() == "South | 100"
    assert len(sentences("| | 2022 | 2021 | 2022 | 2021 |\n|-|-|-|-|-|\n| North | 1 | 2 | 3 | 4 |")) == 1


def test_blocks_that_are_not_wanted_are_left_out_and_tables_are_not() -> None:
    text = "The fan is quiet. It has two speeds.\nThe pump is loud.\n\n| Part | Price |\n|---|---|\n| Fan | 3 |\n"
    wanted = [one.text for one in each_sentence(text, of=lambda block: "pump" in block)]
    assert wanted == ["The pump is loud.", "Part: Fan; Price: 3"]
    assert list(each_sentence(text)) == sentences(text)
