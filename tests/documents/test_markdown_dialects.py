"""Markdown as generators of documentation write it: their marks go and are counted, the words for readers stay."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.documents.blocks import Block, BlockDocument
from kgrag.documents.markdown import convert_markdown


def converted(text: str, name: str = "a.md") -> BlockDocument:
    return convert_markdown(dedent(text).encode(), Path(name), document_path=f"docs/{name}")


def texts(text: str, name: str = "a.md") -> list[tuple[str, str]]:
    return [(block.kind, block.text.strip()) for block in converted(text, name).blocks]


@pytest.mark.parametrize(
    "box",
    [
        '!!! warning "Supply"\n    At most **5 V**.\n\n    - one\n    - two\n',
        '??? warning "Supply"\n\n    At most **5 V**.\n\n    - one\n    - two\n',
        ":::warning Supply\nAt most **5 V**.\n\n- one\n- two\n:::\n",
        ":::warning[Supply]{icon=bolt}\n\nAt most **5 V**.\n\n- one\n- two\n\n:::\n",
        "::::{warning} Supply\n:class: red\n\nAt most **5 V**.\n\n- one\n- two\n::::\n",
        "```{warning} Supply\nAt most **5 V**.\n\n- one\n- two\n```\n",
        "/// warning | Supply\n    open: true\n\nAt most **5 V**.\n\n- one\n- two\n///\n",
        '{{< warning title="Supply" >}}\n\nAt most **5 V**.\n\n- one\n- two\n{{< /warning >}}\n',
        '{% hint title="Supply" %}\n\nAt most **5 V**.\n\n- one\n- two\n{% endhint %}\n',
        "> [!WARNING] Supply\n> At most **5 V**.\n>\n> - one\n> - two\n",
        '<Warning title="Supply">\n\n  At most **5 V**.\n\n  - one\n  - two\n\n</Warning>\n',
    ],
)
def test_a_box_is_its_title_and_its_paragraphs(box: str) -> None:
    assert texts(f"# Board\n\nBefore.\n\n{box}\nAfter.\n") == [
        ("heading", "Board"),
        ("paragraph", "Before."),
        ("paragraph", "Supply"),
        ("paragraph", "At most 5 V."),
        ("list_item", "- one"),
        ("list_item", "- two"),
        ("paragraph", "After."),
    ]


def test_a_box_without_a_title_says_its_kind() -> None:
    assert texts("!!! note\n    Hot.\n\n:::tip\nCold.\n:::\n\n```{versionadded} 1.2\n```\n") == [
        ("paragraph", "Note"),
        ("paragraph", "Hot."),
        ("paragraph", "Tip"),
        ("paragraph", "Cold."),
        ("paragraph", "New in version 1.2"),
    ]


def test_tabs_keep_their_labels_and_listings() -> None:
    tabs = '=== "Linux"\n\n    ``` sh title="install.sh"\n    apt install x\n    ```\n\n=== "Windows"\n\n    Run `setup.exe`.\n\nThen.\n'
    assert texts(tabs) == [
        ("paragraph", "Linux"),
        ("paragraph", "install.sh"),
        ("code", "apt install x"),
        ("paragraph", "Windows"),
        ("paragraph", "Run setup.exe."),
        ("paragraph", "Then."),
    ]


def test_what_stands_in_a_list_stays_in_it() -> None:
    steps = (
        "1. One:\n\n    !!! note\n\n        At 3 V.\n\n    More of one.\n\n2. Two[^a].\n\n[^a]: A note.\n\n3. Three\n"
    )
    assert texts(steps) == [
        ("list_item", "1. One:"),
        ("list_item", "Note"),
        ("list_item", "At 3 V."),
        ("list_item", "More of one."),
        ("list_item", "2. Two[a]."),
        ("list_item", "3. Three"),
        ("paragraph", "[a] A note."),
    ]


def test_footnotes_stand_behind_what_refers_to_them() -> None:
    text = "# A\n\nHot[^1] and cold.\n\n# B\n\nNext[^x].\n\n[^1]: At 85 °C,\n    or more[^2].\n[^2]: Rarely.\n[^3]: Unused.\n"
    assert texts(text) == [
        ("heading", "A"),
        ("paragraph", "Hot[1] and cold."),
        ("paragraph", "[1] At 85 °C, or more[2]."),
        ("paragraph", "[2] Rarely."),
        ("heading", "B"),
        ("paragraph", "Next[^x]."),
        ("paragraph", "[^3]: Unused."),
    ]


def test_what_mdx_imports_and_computes_is_counted_and_components_keep_their_titles() -> None:
    page = """\
        import Tabs from '@theme/Tabs';
        import {
          A,
        } from './a';

        export const Mark = ({children}) => (
          <b style={{color: 'red'}}>{children}</b>
        );

        {/* nobody sees this */}

        <Tabs
          groupId="os"
          values={[{label: 'L', value: 'l'}]}>
          <TabItem value="l" label="Linux">

            ```sh
            apt install x
            ```

          </TabItem>
          <TabItem value="w" label="Windows">Run it.</TabItem>
        </Tabs>

        <Card title="Next steps" href="/next" />
        """
    document = converted(page, "a.mdx")
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("paragraph", "Linux"),
        ("code", "apt install x"),
        ("paragraph", "Windows"),
        ("paragraph", "Run it."),
        ("paragraph", "Next steps"),
    ]
    assert {line.rule for line in document.removed} == {"generator's mark"}
    assert "{/* nobody sees this */}" in [line.text for line in document.removed]


def test_a_tag_that_is_none_is_text() -> None:
    (block,) = converted("Call `f` with <FILE> or vector<String>, then <kbd>Ctrl</kbd>; <my-tag>own</my-tag>.").blocks
    assert block.text == "Call f with <FILE> or vector<String>, then Ctrl; own."


def test_templates_tags_keep_the_words_that_they_show() -> None:
    page = (
        'A {{< glossary_tooltip text="Pod" term_id="pod" >}} has [a page]({{< ref "/docs/pod.md" >}}).\n\n'
        "{% highlight c %}\n{% if x %}\n{% endhighlight %}\n\nWrite `{% raw %}`.\n"
    )
    document = converted(page)
    assert [(block.kind, block.text) for block in document.blocks] == [
        ("paragraph", "A Pod has a page."),
        ("code", "{% if x %}"),
        ("paragraph", "Write {% raw %}."),
    ]
    assert [link.anchor for link in document.blocks[0].links] == ["a page"]


def test_roles_targets_and_attributes_are_read() -> None:
    page = "(lab)=\n## Power {#power .x}\n\nSee {ref}`the lab <lab>` and [here](b.md){ .button target=_blank }.\n{: .note }\n"
    heading, paragraph = converted(page).blocks
    assert (heading.text, set(heading.anchors)) == ("Power", {"lab", "power"})
    assert paragraph.text == "See the lab and here."
    assert [link.href for link in paragraph.links] == ["docs/a.md#lab", "docs/b.md"]


def test_tables_of_lists_and_definitions_are_read() -> None:
    page = "```{list-table} Rails\n:header-rows: 1\n* - Name\n  - Voltage\n* - VDD\n  - 3.3 V\n```\n\nVDD\n:   The supply.\n"
    title, table, definition = converted(page).blocks
    assert title.text == "Rails"
    assert table.header is not None and table.header.cells == ("Name", "Voltage")
    assert [row.cells for row in table.rows] == [("VDD", "3.3 V")]
    assert definition.text == "VDD: The supply."


def test_front_matter_of_toml() -> None:
    document = converted('+++\ntitle = "X-100"\ndate = 2024-10-24\nweight = 3\n+++\n# H\n')
    assert (document.title, dict(document.metadata)) == ("X-100", {"date": "2024-10-24", "weight": "3"})


@pytest.mark.parametrize(
    "plain",
    [
        "!!! This is hot !!!",
        "::: separator :::::: 5",
        "C++ and D++ or i++",
        "~ 5 V is near",
        "[^1] has no note",
        "[^abc]: any other letter",
        "$\\sum_{i=1}^n f(x){n=2}$",
        "=== 3 passed ===",
        "import the board from the box",
        "A set {1, 2} and {x}",
    ],
)
def test_text_that_only_looks_like_a_mark_stays(plain: str) -> None:
    assert texts(plain, "a.mdx") == [("paragraph", plain)]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("Set `/{single}` and `{type}` or `b`.", "Set /{single} and {type} or b."),
        ("Write `\\p{sc:Greek}` for `\\b{start}`.", "Write \\p{sc:Greek} for \\b{start}."),
        ("Here `a\nb` and `{c}` and `d`.", "Here a b and {c} and d."),
        ("A lone `` and {kbd}`Esc` leaves.", "A lone `` and Esc leaves."),
        ("Both ``a ` {b}`` and {ref}`c <https://d.org>`.", "Both a ` {b} and c."),
    ],
)
def test_braces_in_code_spans_are_no_roles(written: str, said: str) -> None:
    assert " ".join(texts(written)[0][1].split()) == said


@pytest.mark.parametrize("box", ["", "!!! note\n", "- item\n"])
def test_a_listing_keeps_its_tabs_and_blank_lines(box: str) -> None:
    indent = "    " if box else ""
    listing = ["```make", "all:", "\tcc\t-O2 x.c", "  ", "\t\tend", "```"]
    page = convert_markdown(
        (box and box + "\n").encode() + "\n".join(indent + line for line in listing).encode(),
        Path("a.md"),
        document_path="a.md",
    )
    (code,) = (block for block in page.blocks if block.kind == "code")
    assert code.text == "all:\n\tcc\t-O2 x.c\n  \n\t\tend"


def test_a_listing_of_javascript_makes_no_components_of_a_text() -> None:
    page = "Call `f` with Array<String>.\n\n```js\nimport React from 'react'\n```\n\nexport const x = 3 stays.\n"
    assert texts(page) == [
        ("paragraph", "Call f with Array<String>."),
        ("code", "import React from 'react'"),
        ("paragraph", "export const x = 3 stays."),
    ]


def test_marks_in_an_indented_listing_stay() -> None:
    assert texts("Text:\n\n    a {% b %}\n    !!! note\n    {% c %}\n\n    :::tip\n\nEnd.") == [
        ("paragraph", "Text:"),
        ("code", "a {% b %}\n!!! note\n{% c %}\n\n:::tip"),
        ("paragraph", "End."),
    ]


def test_marks_in_listings_stay() -> None:
    listing = "!!! note\n    x\n:::tip\n{% raw %}\n[^1]: y\nimport A from 'b'"
    assert texts(f"```\n{listing}\n```\n", "a.mdx") == [("code", listing)]


MARKS = (
    *(
        ":::note T",
        ":::",
        "::::",
        "/// tab | X",
        "///",
        "!!! tip",
        '    !!! tip "Q"',
        '=== "Tab"',
        "```{note} Hm",
        "```",
    ),
    *(
        "> [!TIP]",
        "<Tabs>",
        "</Tabs>",
        "{% tab %}",
        "{{< note >}}",
        "(lab)=",
        "- item",
        "  - inner",
        "1. step",
        "",
        "",
        "",
    ),
)


@given(
    st.lists(
        st.tuples(st.sampled_from(MARKS), st.sampled_from([0, 1, 2, 4, 8]), st.booleans()), min_size=1, max_size=30
    ),
    st.booleans(),
)
def test_no_word_is_lost(lines: list[tuple[str, int, bool]], components: bool) -> None:
    words = [f"word{number}" for number in range(len(lines))]
    page = "\n".join(
        f"{' ' * indent}{mark}\n{' ' * indent * beside}{word}"
        for (mark, indent, beside), word in zip(lines, words, strict=True)
    )
    read = " ".join(
        line for block in converted(page, "a.mdx" if components else "a.md").blocks for line in _lines(block)
    )
    assert set(words) <= set(read.split())


def _lines(block: Block) -> tuple[str, ...]:
    return block.lines


def test_a_directive_may_be_written_with_capitals() -> None:
    read = converted("```{Caution}\nOnly the {ref}`filter <to-filter>` counts.\n```\n\nBelow.\n", "a.md")
    assert [(block.kind, block.text) for block in read.blocks] == [
        ("paragraph", "Caution"),
        ("paragraph", "Only the filter counts."),
        ("paragraph", "Below."),
    ]


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[:octicons-file-code-24:][_source]{: .link }\n\nText.", "Text."),
        ("The :material-alert: hot :fontawesome-solid-bolt:{ .red } part at 10:30:00.", "The hot part at 10:30:00."),
        (
            "Write `#!html <ol>` or `` #!py a`b ``, not `#!/bin/sh` or `#! x`.",
            "Write <ol> or a`b, not #!/bin/sh or #! x.",
        ),
        ("A ==hot== part, x==1 or y==2, a == b == c.", "A hot part, x==1 or y==2, a == b == c."),
        ("H~2~O in m^2^, about ~5 V~ or 2^3^4 and ~/a~b.", "H2O in m², about ~5 V~ or 2^3^4 and ~/a~b."),
        ("Of $a^2^$ and m^2^.", "Of $a^2^$ and m^2^."),
        ("See [`open`][pump.Valve.open] ([a valve][pump.Valve]).", "See open (a valve)."),
        ("10:00 [INFO][org.pump.Main] on", "10:00 [INFO][org.pump.Main] on"),
        ("Of all[i][pump.x] and [not][this-one].", "Of all[i][pump.x] and [not][this-one]."),
    ],
)
def test_pictures_colours_and_names_of_programs_as_mkdocs_writes_them(written: str, shown: str) -> None:
    assert [text for _, text in texts(written)] == [shown]


def test_a_name_that_the_file_defines_is_a_link_of_the_file() -> None:
    document = converted("See [a valve][pump.Valve].\n\n[pump.Valve]: valve.md\n")
    assert [link.href for block in document.blocks for link in block.links] == ["docs/valve.md"]
    assert not [link for block in converted("See [a valve][pump.Valve].\n").blocks for link in block.links]


def test_a_bar_in_the_code_of_a_table_ends_no_cell_where_cells_would_be_lost() -> None:
    table = "| Mode | Means |\n|---|---|\n| `on|off` | a switch |\n| `a` | b |\n\n`x|y` | z\n"
    (block, after) = converted(table).blocks
    assert block.lines == ("Mode | Means", "on|off | a switch", "a | b")
    assert after.text == "x|y | z"
    wide = converted("| A | B | C |\n|---|---|---|\n| `1 | 2` | 3 |\n").blocks[0]
    assert wide.lines[1] == "`1 | 2` | 3"
