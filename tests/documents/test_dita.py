"""DITA topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgrag.documents import discover
from kgrag.documents.blocks import BlockDocument
from kgrag.documents.dita import convert_dita
from kgrag.errors import DocumentError

TASK = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE task PUBLIC "-//OASIS//DTD DITA Task//EN" "task.dtd" [<!ENTITY thing "X-100">]>
<task id="start" xml:lang="en"><title>Start the &thing;</title>
<shortdesc>It starts at <ph>5&nbsp;bar</ph>.</shortdesc>
<prolog><author>A. Author</author><metadata>
<prodinfo><prodname>X-100</prodname><vrmlist><vrm version="2.1"/></vrmlist></prodinfo></metadata></prolog>
<taskbody>
<steps>
<step><cmd>Open <menucascade><uicontrol>File</uicontrol> <uicontrol>Start</uicontrol></menucascade>.</cmd><info>It takes 3 s.</info></step>
<step><cmd>Type <codeph>pump -s</codeph>.</cmd>
<choicetable><chhead><choptionhd>Option</choptionhd><chdeschd>Means</chdeschd></chhead>
<chrow><choption>-s</choption><chdesc>start</chdesc></chrow></choicetable></step>
</steps>
<result><note type="warning">The surface is hot.</note></result>
<example id="more"><title>Example</title><codeblock>pump -s
pump -q</codeblock></example><draft-comment>Ask again.</draft-comment>
</taskbody>
<related-links><link href="x.dita"><linktext>Other pumps</linktext></link></related-links>
</task>"""
REFERENCE = """<!DOCTYPE reference PUBLIC "-//OASIS//DTD DITA Reference//EN" "reference.dtd">
<reference id="r"><title>Settings</title><refbody>
<section><title>Limits</title><table><title>All limits</title><tgroup cols="3">
<colspec colname="a"/><colspec colname="b"/><colspec colname="c"/>
<thead><row><entry>Name</entry><entry namest="b" nameend="c">Range</entry></row></thead>
<tbody><row><entry morerows="1">speed</entry><entry>1</entry><entry>30</entry></row><row><entry>2</entry><entry>40</entry></row></tbody>
</tgroup></table>
<dl><dlentry><dt>flow</dt><dd>Up to <keyword keyref="most"/> l/s, see <xref href="other.dita#other/flow">flow</xref>.</dd></dlentry></dl>
</section></refbody></reference>"""


def converted(text: str) -> BlockDocument:
    return convert_dita(text.encode(), Path("docs/a.dita"), document_path="docs/a.dita")


def test_a_task_is_its_steps_with_notes_and_listings() -> None:
    read = converted(TASK)
    assert read.title == "Start the X-100"
    assert [(block.kind, block.text) for block in read.blocks if block.kind != "table"] == [
        ("heading", "Start the X-100"),
        ("paragraph", "It starts at 5 bar."),
        ("list_item", "1. Open File > Start."),
        ("list_item", "   It takes 3 s."),
        ("list_item", "2. Type pump -s."),
        ("paragraph", "Warning: The surface is hot."),
        ("heading", "Example"),
        ("code", "pump -s\npump -q"),
    ]
    (table,) = [block for block in read.blocks if block.kind == "table"]
    assert [row.cells for row in (table.header, *table.rows) if row] == [("Option", "Means"), ("-s", "start")]
    assert [(line.rule, line.text) for line in read.removed] == [
        ("comment", "Ask again."),
        ("related links", "Other pumps"),
    ]
    assert read.metadata == {"product": "X-100", "version": "2.1"}


def test_a_reference_is_its_tables_and_terms() -> None:
    read = converted(REFERENCE)
    (table,) = [block for block in read.blocks if block.kind == "table"]
    assert [row.cells for row in (table.header, *table.rows) if row] == [
        ("Name", "Range", "Range"),
        ("speed", "1", "30"),
        ("speed", "2", "40"),
    ]
    (term,) = [block for block in read.blocks if block.terms]
    assert term.terms == ("flow",)
    assert [link.href for link in term.links] == ["docs/other.dita#flow"]
    assert read.notes == ("left out what is said elsewhere: most",)


def test_a_map_has_titles_of_other_files_alone() -> None:
    read = converted('<map><title>M</title><topicref href="a.dita" navtitle="Start"/></map>')
    assert (read.blocks, [line.text for line in read.removed]) == ((), ["Start"])


def test_a_topic_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "task.xml").write_text(TASK, encoding="utf-8")
    (tmp_path / "a.dita").write_text(TASK, encoding="utf-8")
    (tmp_path / "build.xml").write_text("<project><task name='a'/></project>", encoding="utf-8")
    assert [(source.path.name, source.format) for source in discover([tmp_path]).sources] == [
        ("a.dita", "dita"),
        ("task.xml", "dita"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "<html><p>x</p></html>",
        "<topic><title>x</title",
        "<topic>" + "<p>" * 5000 + "</p>" * 5000 + "</topic>",
        "no XML",
        "<?xml version='1.0'?>",
    ],
)
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        converted(text)


def test_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret words", encoding="utf-8")
    read = converted(
        f'<!DOCTYPE topic [<!ENTITY x SYSTEM "{secret.as_uri()}">]><topic><title>T</title><body><p>a &x; b</p></body></topic>'
    )
    assert read.blocks[1].text == "a x b"


def test_many_columns_take_no_time() -> None:
    columns = "".join(f'<colspec colname="c{n}"/>' for n in range(3000))
    rows = "".join(f"<row>{'<entry>a</entry>' * 3}</row>" for _ in range(3000))
    text = f"<topic><title>T</title><body><table><tgroup>{columns}<tbody>{rows}</tbody></tgroup></table></body></topic>"
    assert len(converted(text).blocks[1].rows) >= 2999
