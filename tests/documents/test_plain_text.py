"""Plain text: what its lines are is told by how they are laid out, and no word is lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.blocks import BlockDocument
from kgrag.documents.cleaning import clean
from kgrag.documents.text_files import convert_text
from kgrag.errors import DocumentError


def converted(text: str | bytes) -> BlockDocument:
    return convert_text(text.encode() if isinstance(text, str) else text, Path("a.txt"), document_path="docs/a.txt")


def read(text: str) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, block.text) for block in converted(text).blocks]


MANUAL = """\
Keeping backups
---------------

Each time a backup is made, it is given a number that is one greater than that
of the previous one. If there is none before, it is
number 1. The default is 7.
For example, you may set 'keep' to several numbers:

keep = 7
keep = 4

   * The first is the number of backups that are kept, all of them, one after
     the other.
   * oldest=0

Ports
~~~~~

-p, --port PORT
    Where to listen. Default: 4971.
"""


def test_headings_texts_listings_lists_and_definitions_are_told_apart() -> None:
    assert read(MANUAL) == [
        ("heading", 1, "Keeping backups"),
        (
            "paragraph",
            0,
            "Each time a backup is made, it is given a number that is one greater than that of the previous one. "
            "If there is none before, it is number 1. The default is 7.",
        ),
        ("paragraph", 0, "For example, you may set 'keep' to several numbers:"),
        ("code", 0, "keep = 7\nkeep = 4"),
        ("list_item", 1, "- The first is the number of backups that are kept, all of them, one after the other."),
        ("list_item", 1, "- oldest=0"),
        ("heading", 2, "Ports"),
        ("paragraph", 0, "-p, --port PORT: Where to listen. Default: 4971."),
    ]


TITLED = "=====\nTitle\n=====\n\nOne\n===\n\nText.\n\nTwo\n===\n\nDeep\n----\n\nText.\n"
CHAPTERS = "Chapter 3. Installing\n\n3.1. The disk\n\nText.\n\n3.2. Why?\n\nText.\n\nAppendix B. Parts\n\nText.\n\nB.1. Save!\n\nText.\n"
TRANSLATED = (
    "Kapitel 2. Aufbau\n\nText.\n\nAnhang A. Teile\n\nText.\n\n第3章 起動\n\n本文。\n\nГлава 4. Запуск\n\nText.\n"
)
NUMBERED = "The manual\n\n1. Setting up\n\nText.\n\n1.1 The port\n\nText.\n\n2. Running\n\nText.\n"


@pytest.mark.parametrize(
    ("text", "headings"),
    [
        (TITLED, [(1, "Title"), (2, "One"), (2, "Two"), (3, "Deep")]),
        (NUMBERED, [(1, "The manual"), (2, "1. Setting up"), (3, "1.1 The port"), (2, "2. Running")]),
        ("NAME\n       burp - backs up\n\nOPTIONS\n       None.\n", [(1, "NAME"), (1, "OPTIONS")]),
        ("Contents of this:\n\n1. One\n\n2. Two\n\n3. Three\n", []),
        (
            CHAPTERS,
            [
                (1, "Chapter 3. Installing"),
                (2, "3.1. The disk"),
                (2, "3.2. Why?"),
                (1, "Appendix B. Parts"),
                (2, "B.1. Save!"),
            ],
        ),
        (TRANSLATED, [(1, "Kapitel 2. Aufbau"), (1, "Anhang A. Teile"), (1, "第3章 起動"), (1, "Глава 4. Запуск")]),
        ("Text.\n\nAppendix F, GNU General Public License.\n\nTable 3.2. Minimum\n\nText.\n", []),
        ("| A |\n-----\n| B |\n", []),
        ("A    B    C\n-----------\n1    2    3\n", []),
    ],
)
def test_headings_have_the_levels_of_their_styles(text: str, headings: list[tuple[int, str]]) -> None:
    assert [(level, words) for kind, level, words in read(text) if kind == "heading"] == headings


def test_drawings_and_columns_keep_their_lines() -> None:
    drawing = "+--------+      +-------+\n| server |----->| agent |\n+--------+      +-------+"
    columns = "port      4971     where the server listens\nstatus    4972     for the monitor"
    assert [text for _, _, text in read(f"{drawing}\n\n{columns}\n\n-----\n\nThe end.\n")] == [
        drawing,
        columns,
        "The end.",
    ]


def test_lists_go_on_with_their_numbers_and_keep_what_is_inside() -> None:
    assert [text for _, _, text in read("Steps:\n3. Stop it:\n   - now\n   - or later\n4. Go\n")] == [
        "Steps:",
        "3. Stop it:",
        "  - now",
        "  - or later",
        "4. Go",
    ]


def test_an_item_whose_term_stands_in_a_column_of_its_own_is_one_text() -> None:
    text = """\
These may be given to the pump, and none of them has to be:

 * port:      - where it listens. Default: 23
 * idle:      - how long (seconds) it waits before it goes to sleep if the
                tank is not full. Default: 100
 * oil        which of the oils it is filled with for the winter, where the
              hall is cold.
"""
    assert [line for _, _, line in read(text)][1:] == [
        "- port: - where it listens. Default: 23",
        "- idle: - how long (seconds) it waits before it goes to sleep if the tank is not full. Default: 100",
        "- oil which of the oils it is filled with for the winter, where the hall is cold.",
    ]


def test_lists_and_lines_in_turn_are_read_however_many_they_are() -> None:
    assert len(read("- an item\nand what follows:\n" * 2_000)) == 4_000


def test_quoted_mail_is_a_text_without_its_marks() -> None:
    mail = (
        "On Monday, A. wrote:\n> Each time a backup is made, it gets a number that is\n> one greater than before.\n>\n"
        "> > Why?\nBecause.\n"
    )
    assert [text for _, _, text in read(mail)] == [
        "On Monday, A. wrote:",
        "Each time a backup is made, it gets a number that is one greater than before.",
        "Why?",
        "Because.",
    ]
    assert [text for _, _, text in read(">>> a = 1\n>>> a + 1\n2\n")] == [">>> a = 1\n>>> a + 1\n2"]


def test_bold_by_overstriking_pages_and_tabs_are_read() -> None:
    assert read("N\bNA\bAM\bME\bE\n\tburp, a backup\n\fNext page.\n") == [
        ("heading", 1, "NAME"),
        ("paragraph", 0, "burp, a backup"),
        ("paragraph", 0, "Next page."),
    ]


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(DocumentError, match="text"):
        converted(bytes(range(256)) * 20)


LINES = st.lists(st.text(st.sampled_from("ab1. -=*|+:\tÄ<&>#'`~_)("), max_size=30), max_size=20)


@given(LINES.filter(lambda lines: "".join(lines).strip() != ""))
def test_no_word_is_lost_added_or_moved(lines: list[str]) -> None:
    text = "\n".join(lines)
    said = " ".join(block.text for block in converted(text).blocks)
    assert letters(said) == letters(text)


def letters(text: str) -> str:
    """All letters; numbers may be those of lists, which blocks write anew."""
    return "".join(re.findall(r"[^\W\d_]", text))


def test_an_option_may_have_several_names() -> None:
    silent = "It knows:\n\n  -n\n  --quiet\n      Say nothing, not even where the file is wrong or missing altogether."
    assert read(silent)[-1][2] == "-n, --quiet: Say nothing, not even where the file is wrong or missing altogether."
    assert read(silent.replace("-n", "one").replace("--quiet", "two"))[1][2] == "one\ntwo"


CYRILLIC = "Блок питания подключается к разъёму на плате."
CZECH = "Před připojením napájení zkontrolujte, že šroub není uvolněný, a pak přístroj zapněte."
TURKISH = "Güç kaynağını bağlamadan önce ışığın kapalı olduğundan emin olun ve kartı yerleştirin."
GERMAN = "Vor dem Anschließen des Netzteils prüfen, daß die Ströme höchstens 20 µA ± 2 % betragen."
JAPANESE = "電源を接続する前に、基板の温度が下がっていることを確認してください。"
KOREAN = "전원을 연결하기 전에 기판의 온도가 내려갔는지 확인하십시오."
CHINESE = "连接电源之前，请确认电路板的温度已经下降。"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        *((encoding, CYRILLIC) for encoding in ("koi8_r", "cp1251", "cp866", "iso8859_5")),
        *((encoding, CZECH) for encoding in ("cp1250", "iso8859_2")),
        ("cp1254", TURKISH),
        ("cp1252", GERMAN),
        *((encoding, JAPANESE) for encoding in ("euc_jp", "shift_jis", "iso2022_jp")),
        ("euc_kr", KOREAN),
        ("gb18030", CHINESE),
    ],
)
def test_texts_that_declare_no_encoding_are_read_in_that_of_their_language(encoding: str, text: str) -> None:
    # Longer than what detection looks at, which may end within a character.
    written = f"{text}\n" * 5_000
    assert converted(written.encode(encoding)).blocks[0].text.startswith(text)


def test_what_texinfo_defines_is_a_term_also_above_a_blank_line_and_with_several_names() -> None:
    text = (
        "Text of the manual that goes before.\n\n -- Command: print [TYPE]\n\n     Displays the partition table.\n\n"
        " -- Test: -name pattern\n -- Test: -iname pattern\n     True if the base of the file name matches.\n"
    )
    assert [words for _, _, words in read(text)][1:] == [
        "Command print [TYPE]: Displays the partition table.",
        "Test -name pattern, Test -iname pattern: True if the base of the file name matches.",
    ]


def test_a_page_of_html_that_is_called_text_is_read_as_one() -> None:
    head = "<!-- saved -->\n<!DOCTYPE html>\n<html><head><title>X-100</title></head>"
    read = converted(f"{head}<body><h2>Supply</h2><p>At <b>5</b> V.</p></body></html>")
    assert (read.title, [(block.kind, block.text) for block in read.blocks]) == (
        "X-100",
        [("heading", "Supply"), ("paragraph", "At 5 V.")],
    )
    assert read.notes == ("is HTML, and read as that",)
    assert converted("Write <html> first:\n\n    <html>\n").blocks[0].text == "Write <html> first:"


def test_lines_of_japanese_are_one_text_without_spaces_and_no_heading() -> None:
    text = (
        "EB ライブラリは CD-ROM 書籍にアクセスするためのライブラリです。この機能は\n"
        "UNIX 系 OS および Windows (2000以降) のシステム上で動作させることがで\n"
        "きます。コンパイルには別のパッケージが必要です。\n\n"
        "また、EB ライブラリは幾つかのユーティリティも提供しています。\n\n"
        "1. 遠隔アクセスを行うには、別のソフトウェアが必要です。\n\n"
        "インストール\n============\n\n手順を以下に示します。\n"
    )
    assert [(kind, words) for kind, _, words in read(text)] == [
        (
            "paragraph",
            "EB ライブラリは CD-ROM 書籍にアクセスするためのライブラリです。この機能は UNIX 系 OS および Windows (2000以降) "
            "のシステム上で動作させることができます。コンパイルには別のパッケージが必要です。",
        ),
        ("paragraph", "また、EB ライブラリは幾つかのユーティリティも提供しています。"),
        ("list_item", "1. 遠隔アクセスを行うには、別のソフトウェアが必要です。"),
        ("heading", "インストール"),
        ("paragraph", "手順を以下に示します。"),
    ]


def test_rules_between_texts_are_no_underlines() -> None:
    rule = "-" * 60
    log = f"{rule}\nr12 | ann | 2 lines\n\nFix the supply\n{rule}\nr11 | bob | 1 line\n\nAdd it\n\n{rule}\nr10 | ann | 1 line\n\nBegin\n"
    assert [(kind, words) for kind, _, words in read(log)] == [
        ("paragraph", words)
        for words in (
            "r12 | ann | 2 lines",
            "Fix the supply",
            "r11 | bob | 1 line",
            "Add it",
            "r10 | ann | 1 line",
            "Begin",
        )
    ]


@pytest.mark.parametrize(
    ("first", "title"),
    [
        (f"{'The X-100 sensor':^79}\n{'A guide for installers':^79}", "The X-100 sensor"),
        ("The X-100 User's Guide\nBy Ann Smith\nUpdated by others\nLast modified in 2010", "The X-100 User's Guide"),
        ("<--------------- Supply ---------------->", "Supply"),
        ("The X-100 sensor", "The X-100 sensor"),
    ],
)
def test_a_title_in_the_middle_above_its_authors_or_between_marks_is_one(first: str, title: str) -> None:
    text = f"{first}\n\n" + "The sensor is supplied by the board, and draws less than one milliampere of it.\n\n" * 8
    assert read(text)[0] == ("heading", 1, title)
    assert letters(" ".join(words for _, _, words in read(text))) == letters(text)


@pytest.mark.parametrize(
    "line",
    [
        "$Id: notes.txt 152 2004-03-27 ann $",
        "4 October 2005, last modified in 2013",
        "1. Download the latest patch from",
        "-----BEGIN PGP SIGNED MESSAGE-----",
    ],
)
def test_keywords_dates_and_what_goes_on_are_no_headings(line: str) -> None:
    assert "heading" not in {kind for kind, _, _ in read(f"{line}\n\nThe supply is 5 V.\n")}
    assert "heading" not in {kind for kind, _, _ in read(f"Use it.\n\n{line}\n\n    ftp://example.org/\n")}


def test_a_line_of_any_length_between_rules_is_read() -> None:
    line = f"{'-' * 100_000}a"  # marks that no other marks end: looking for those at each of them takes minutes
    assert ("heading", 1, line) in read(f"======\n{line}\n======\n\nIt is off.\n")


def test_a_wide_table_does_not_say_how_wide_lines_are_broken() -> None:
    row = f"+{'-' * 70}+{'-' * 70}+"
    cells = f"| {'Setting':<68} | {'New default':<68} |"
    item = """ * The setting for protocols was replaced by one for the lowest. Now you only
   say which version has to be there at least, with its default being
   TLSv1.
"""
    text = f"Upgrading\n=========\n\n{item}\n" + "\n".join([row, cells] * 6 + [row]) + "\n"
    assert ("list_item", "default being TLSv1.") in [(kind, words[-20:]) for kind, _, words in read(text)]


def justified(line: str, width: int = 60) -> str:
    """Put spaces between the words of a line, from its end, until it is as long as the others."""
    words = line.split(" ")
    while sum(map(len, words)) + len(words) - 1 < width:
        for index in range(len(words) - 1, 0, -1):
            if sum(map(len, words)) + len(words) - 1 < width:
                words[index] = f" {words[index]}"
    return " " * 10 + " ".join(words)


def test_a_justified_text_is_no_listing_and_its_words_are_whole() -> None:
    lines = [
        "Each of the valves of the pump opens at a pressure that",
        "is set, and closes as it falls. A read-only valve has num-",
        "bers that nobody sets and that are, in the book, read-",
        "only, by pre- and postfix, and kept for as long as pre-",
        "and other numbers are needed by those who run it, which",
        "is as long as it takes, and as the pump itself is in serv-",
        "ice and for two years after that in the office of the own-",
        "er, unless there is none of them, or there are more than",
    ]
    text = "\n".join(["          1.  Valves", "", *map(justified, lines), "          one."])
    heading, paragraph = read(text)
    assert (heading[0], paragraph[0]) == ("heading", "paragraph")
    for words in ("numbers that", "read-only, by", "as pre- and other", "in service and", "the owner, unless"):
        assert words in " ".join(paragraph[2].split())


def test_hyphens_stay_where_few_lines_end_in_one() -> None:
    line = "The pump has been built for those who need one that holds.\n"
    assert (
        read(f"{line * 40}The pump has been built for those who need a valve of two-\nway valve stays.\n")[-1][2]
        .replace("\n", " ")
        .endswith("two- way valve stays.")
    )


def test_two_lines_farther_left_than_a_thousand_others_do_not_hide_the_headings() -> None:
    section = "          {}.  Valves\n\n" + "          A valve opens at the pressure that is set by hand.\n" * 20 + "\n"
    text = "".join(section.format(number) for number in range(1, 60)) + "x\n y\n"
    assert sum(kind == "heading" for kind, _, _ in read(text)) == 59


BROWSED = """\
   Link: Contents Up Index: postbox

                              The postbox program

   The program fetches letters from a box and puts them on the table, one
   after the other, as long as there are any.

Setting it up

  Sorts of values

    number

   A number is written as it is, and may have a sign before it where it makes
   a difference.

  What is a shared box, and how do I know that the box I have rented is one of
  those?

   Several people have a key to it. What is to be put into a file is written
   like this:

 box = 12

   Otherwise there are as many boxes as there are people, and nobody has more
   than one of them.

    letter

A last word (and thanks)

   Write to us if anything is wrong here, and thank those who wrote before you
   did.
"""


def test_a_page_that_a_text_browser_wrote_has_its_headings() -> None:
    assert [(level, text) for kind, level, text in read(BROWSED) if kind == "heading"] == [
        (1, "The postbox program"),
        (2, "Setting it up"),
        (3, "Sorts of values"),
        (4, "number"),
        (3, "What is a shared box, and how do I know that the box I have rented is one of those?"),
        (2, "A last word (and thanks)"),
    ]
    assert "box = 12" in [text for _, _, text in read(BROWSED)]
    assert not any("Link:" in text for _, _, text in read(BROWSED))


def test_a_title_may_end_in_a_remark() -> None:
    assert read("Questions that are asked often (FAQ)\n\nThis is the first line of text.\n\nA second.")[0] == (
        "heading",
        1,
        "Questions that are asked often (FAQ)",
    )


def test_lines_that_blank_lines_alone_set_off_are_headings() -> None:
    def headings(text: str) -> list[tuple[int, str]]:
        return [(level, words) for kind, level, words in read(text) if kind == "heading"]

    said = "The pump lifts water from the well, and is at rest when the well\nis low. It says so by a lamp."
    titles = ("How it works", "When it rests", "What it says")
    parts = "".join(f"\n\n{title}\n\n{said}\n\n{said}\n\n{said}\n" for title in titles)
    running = f"\n\nPumps of the North\n\n{said}\n\n{said}\n" * 3
    assert headings(f"Pumps\n\n{said}\n\n{said}\n{parts}{running}") == [(1, "Pumps"), *((2, one) for one in titles)]
    assert headings("Pumps\n\n" + "\n\n\n".join(f"Line of {one}\n\n{said}" for one in titles)) == [(1, "Pumps")]


LISTED = """\
  The pump manual

  Table of Contents

  1. Introduction
     1.1 What is it? And what is it not?
     1.2 How do I connect a pump that has more than one inlet and no
         outlet?

  2. Settings
     2.1 max_flow
     2.2 min_flow

  1.  Introduction

  1.1.  What is it? And what is it not?

  It is a controller for pumps of all sorts that stands in the cellar and
  runs by itself most of the year.

  1.2.  How do I connect a pump that has more than one inlet and no out-
  let?

  You do not.

  2.  Settings

  2.1.  max_flow

  Default: 30

  2.2.  min_flow

  Default: 3
"""


def test_headings_are_what_the_table_of_contents_lists_which_is_a_list_below_its_own() -> None:
    assert [(kind, level, text) for kind, level, text in read(LISTED) if kind in ("heading", "list_item")] == [
        ("heading", 1, "The pump manual"),
        ("heading", 2, "Table of Contents"),
        ("list_item", 1, "- Introduction"),
        ("list_item", 1, "- What is it? And what is it not?"),
        ("list_item", 1, "- How do I connect a pump that has more than one inlet and no outlet?"),
        ("list_item", 1, "- Settings"),
        ("list_item", 1, "- max_flow"),
        ("list_item", 1, "- min_flow"),
        ("heading", 2, "1. Introduction"),
        ("heading", 3, "1.1. What is it? And what is it not?"),
        ("heading", 3, "1.2. How do I connect a pump that has more than one inlet and no outlet?"),
        ("heading", 2, "2. Settings"),
        ("heading", 3, "2.1. max_flow"),
        ("heading", 3, "2.2. min_flow"),
    ]
    kept, report = clean(converted(LISTED).blocks)
    assert not [block for block in kept if block.kind == "list_item"]
    assert report.counts["table of contents"] == 7


def test_a_list_of_numbers_below_contents_that_is_not_in_order_is_no_table_of_contents() -> None:
    text = "Contents\n\n3. Screws\n1. Pump\n2. Hoses\n\nAll of it is in the box that came with the pump.\n"
    assert [text for kind, _, text in read(text) if kind == "list_item"] == ["3. Screws", "1. Pump", "2. Hoses"]


def test_words_that_are_cut_in_few_lines_are_joined_where_the_text_proves_it() -> None:
    filler = "The controller of the pump runs by itself and needs no attention at all.\n\n" * 60
    text = filler + (
        "It is on the bottom of the list, and getting it to run is not hard.\n\n"
        "A Unix-like system has it. It is there, or it stands on the very bot-\n"
        "tom of the list, where all that nobody has asked for at all is get-\n"
        "ting old. It runs and always has run, since it was made, on any Unix-\n"
        "like system of those that are in use in such works, and automati-\n"
        "cally; see <http://pump.example/of-all-that-runs-by-itself-and-list-\n"
        "systems> for what there is to say of all the others, and of the in-\n"
        "and outlets.\n"
    )
    said = read(text)[-1][2]
    for words in (
        "very bottom of",
        "is getting old",
        "any Unix-like system",
        "and automatically;",
        "the in- and outlets",
    ):
        assert words in " ".join(said.split())
    assert "<http://pump.example/of-all-that-runs-by-itself-and-list-systems>" in said


def test_definitions_without_blank_lines_between_them_are_several() -> None:
    text = (
        "These variables are read when the program begins, each of them at most once.\n\n"
        "   DISPLAY\n      If it is set, windows are opened on that screen and on no other one.\n"
        "   TERM\n      See DISPLAY.\n"
    )
    assert [text for _, _, text in read(text)][1:] == [
        "DISPLAY: If it is set, windows are opened on that screen and on no other one.",
        "TERM: See DISPLAY.",
    ]
    program = "This is how it is written in a program for the pump and its valve:\n\n   start\n      pump on\n   stop\n      pump off\n"
    assert read(program)[-1][0] == "code"


def test_lines_in_bold_alone_are_headings() -> None:
    def bold(text: str) -> str:
        return "".join(f"{letter}\b{letter}" if letter != " " else letter for letter in text)

    text = (
        f"{bold('X set')}\n\nIt sets.\n\n{bold('How to set it')}\n\nTurn the knob.\n\n    {bold('-v')}\n\nAnd look.\n"
    )
    assert [(block.kind, block.level, block.text) for block in converted(text).blocks] == [
        ("heading", 1, "X set"),
        ("paragraph", 0, "It sets."),
        ("heading", 2, "How to set it"),
        ("paragraph", 0, "Turn the knob."),
        ("code", 0, "-v"),
        ("paragraph", 0, "And look."),
    ]


def test_questions_head_their_answers() -> None:
    asked = [
        f"Q: How do I set the mode {mode}, which\n   is new?\n\nA: With the knob.\n\n   Or by mail.\n" for mode in "123"
    ]
    found = converted("\n".join(asked)).blocks
    assert [(block.kind, block.text) for block in found[:3]] == [
        ("heading", "Q: How do I set the mode 1, which is new?"),
        ("paragraph", "A: With the knob."),
        ("paragraph", "Or by mail."),
    ]
    assert len({block.level for block in found if block.kind == "heading"}) == 1
    lettered = "\n".join("Q. It is set.\n\nR. It is not set.\n" for _ in range(3))
    assert not any(block.kind == "heading" for block in converted(lettered).blocks[1:])


def test_numbered_headings_may_stand_left_of_the_text() -> None:
    text = "The set\n\n 1. Modes\n\n" + "\tIt has two modes.\n\n" * 4 + " 1.1 Slow\n\n\tIt is slow.\n"
    assert [(block.level, block.text) for block in converted(text).blocks if block.kind == "heading"] == [
        (1, "The set"),
        (2, "1. Modes"),
        (3, "1.1 Slow"),
    ]


def test_sections_that_are_counted_anew_stand_below_their_chapters() -> None:
    chapters = "".join(f"Chapter {n}. Part\n\nText.\n\n1. One\n\nText.\n\n1.1. Deep\n\nText.\n\n" for n in (1, 2))
    assert [block.level for block in converted(f"The set\n\n{chapters}").blocks if block.kind == "heading"] == [
        1,
        *(2, 3, 4) * 2,
    ]


def test_options_alone_on_a_line_are_terms_and_no_headings() -> None:
    text = "Options are:\n\n-MC\n\n    It is not for use by others.\n\n-v <volt>\n\n    The voltage.\n"
    assert [(block.kind, block.text) for block in converted(text).blocks] == [
        ("paragraph", "Options are:"),
        ("paragraph", "-MC: It is not for use by others."),
        ("paragraph", "-v <volt>: The voltage."),
    ]


def test_a_line_that_comes_again_and_again_is_no_heading_where_some_are_set_off() -> None:
    section = "{}\n\n" + "This is what the set does when it is on and somebody looks at it from far.\n\n" * 6
    heads = "".join(f"\n{section.format(title)}" for title in ("Use", "Care", "Waste", "Note"))
    found = converted(f"The set\n\n{section.format('Note')}{section.format('Note')}{heads}").blocks
    assert [block.text for block in found if block.kind == "heading"] == ["The set", "Use", "Care", "Waste"]


def test_lines_that_name_one_version_after_the_other_head_what_changed_in_each() -> None:
    told = "  - It starts at once when there is\n    something to do.\n\n"
    text = "".join(f"Pump {version} (2020-0{version[-1]}-01):\n{told}" for version in ("2.3", "2.2", "2.1"))
    assert [text for kind, _, text in read(text) if kind == "heading"] == [
        f"Pump {version} (2020-0{version[-1]}-01)" for version in ("2.3", "2.2", "2.1")
    ]
    marked = "".join(f"* Changes in {number}.0\n\nIt starts at once.\n\n" for number in (1, 2, 3))
    assert [one for one in read(f"News\n\n{marked}") if one[0] == "heading"] == [
        ("heading", 1, "News"),
        *(("heading", 2, f"Changes in {number}.0") for number in (1, 2, 3)),
    ]


@pytest.mark.parametrize(
    "lines",
    [
        ["Needs foo 1.2", "Needs foo 1.3", "Needs foo 1.4"],
        ["Since pump 1.2 it starts.", "Since pump 1.3 it stops.", "Since pump 1.4 it waits."],
        ["Set it to 3.2", "Text of it.", "Set it to 1.7", "Text of it.", "Set it to 2.9"],
    ],
    ids=["nothing between them", "sentences", "no order"],
)
def test_other_lines_with_numbers_are_text(lines: list[str]) -> None:
    assert [kind for kind, _, _ in read("\n\n".join(["Text of it all.", *lines]))].count("heading") == 0


def test_short_lines_alone_above_texts_of_sentences_are_headings_where_there_are_two() -> None:
    told = "The pump starts as soon as it has current, and it stops when there is no water\nleft to move. It says so with its lamp.\n"
    both = f"Pump\n====\n\nStarting the pump\n\n{told}\nWhat the lamp says\n\n{told}"
    assert [one[1:] for one in read(both) if one[0] == "heading"] == [
        (1, "Pump"),
        (2, "Starting the pump"),
        (2, "What the lamp says"),
    ]
    one = f"Pump\n====\n\nStarting the pump\n\n{told}\nTable 1. What the lamp says\n\n{told}\nIt is set so:\n\nLamp\n\n{told}"
    assert [block[2] for block in read(one) if block[0] == "heading"] == ["Pump"]


@pytest.mark.parametrize("line", ["== Pump rules ==", "** Pump rules **", "<--- Pump rules --->"])
def test_marks_on_both_sides_of_a_title_are_no_part_of_it(line: str) -> None:
    text = (
        f"{line}\n\nOpen the valve before the motor runs.\n\n{line.replace('rules', 'parts')}\n\nA seal and a valve.\n"
    )
    assert [(kind, said) for kind, _, said in read(text) if kind == "heading"] == [
        ("heading", "Pump rules"),
        ("heading", "Pump parts"),
    ]
    assert not [said for kind, _, said in read(f"Some text.\n\n{line[:2]}x{line[-2:]}\n\nMore.\n") if kind == "heading"]
