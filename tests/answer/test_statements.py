from kgrag.answer.preformatted import reflow
from kgrag.answer.statement import Statement
from kgrag.answer.statements import statements
from kgrag.types import Evidence

MAN_PAGE = """DESCRIPTION
       The  daemon  reads  its  settings from the configuration file unless an
       option says otherwise. Its options are those of all programs of the pack-
       age.

       -d queue_id
              Delete one message with the named queue ID from the  named  mail
              queue. The default is hold.

       -t threads
              How many threads write to the disk at once. The default number of
              them is 4, and it must not be more than sixteen.
"""


def read(text: str, *, section: str = "Settings > 7.4. buffer-limit") -> list[Statement]:
    piece = Evidence(
        chunk_id="c", source_id="s", document="d", title="Manual", section=section, text=text, tokens=1, score=1
    )
    return statements(piece)


def saying(text: str, words: str) -> Statement:
    return next(one for one in read(text) if words in one.text and not one.items)


def test_a_statement_carries_heading_and_term() -> None:
    said = saying("Default value: 4096\n-t threads: Specifies the number of threads. The default is 4.", "4096")
    assert (said.heading, said.label) == ("buffer-limit", "Default value")
    said = saying("-t threads: Specifies the number of threads. Larger is faster. At most 16 run.", "16")
    assert said.label == "-t threads"
    assert said.before == "-t threads: Specifies the number of threads. Larger is faster."


def test_a_name_with_a_colon_and_a_command_that_is_only_called_are_terms() -> None:
    said = saying("recycle:path = PATH: Where files are moved to.\nIf it is not set, the path .bin is used.", ".bin")
    assert said.label == "recycle:path = PATH"
    assert saying("'pwd': pwd [-LP]\nPrint the absolute pathname of the folder.", "absolute").label == "'pwd'"


def test_what_points_back_is_quoted_with_what_it_points_to() -> None:
    said = saying("-t threads: Specifies the number of threads. The default is 4.", "is 4")
    assert said.text == said.quote == "-t threads: Specifies the number of threads. The default is 4."


def test_what_follows_a_list_is_not_said_of_its_last_item() -> None:
    text = "The options are:\n- `-t threads`: number of threads. The default is 4.\nThe telnet port is 42217."
    assert saying(text, "42217").label == ""
    assert saying(text, "is 4").text == "`-t threads`: number of threads. The default is 4."
    assert saying(text, "number of threads").before == "The options are:"


def test_a_listing_in_columns_has_its_left_column_as_terms() -> None:
    assert saying(".bail on|off             Stop after an error.  Default OFF\n", "OFF").label == ".bail on|off"


def test_lists_are_statements_of_their_own() -> None:
    (group,) = [one for one in read("Stack models are:\n- small\n- large\n- huge\nThat is all.") if one.items]
    assert group.items == ("small", "large", "huge")
    assert group.text == "Stack models are: small; large; huge"
    assert group.quote == "Stack models are: - small - large - huge"
    (rows,) = [one for one in read("| Leak | Shown |\n|---|---|\n| definite | yes |\n| possible | no |\n") if one.items]
    assert rows.items == ("definite (yes)", "possible (no)")
    (command,) = [one for one in read("Test the shutdown with:\nupsmon -c fsd\nThen wait a while.") if one.items]
    assert command.text == "Test the shutdown with: upsmon -c fsd"


def test_a_preformatted_passage_is_read_by_its_indentation() -> None:
    assert saying(MAN_PAGE, "Delete").label == "-d queue_id"
    said = saying(MAN_PAGE, "is 4")
    assert said.label == "-t threads"
    assert said.text == "The default number of them is 4, and it must not be more than sixteen." or said.text.endswith(
        "sixteen."
    )
    assert "all programs of the package" in saying(MAN_PAGE, "Its options").text
    assert len(reflow(MAN_PAGE).text) == len(MAN_PAGE)


def test_other_passages_stay_as_they_are() -> None:
    prose = "A paragraph that is as long as it is, since nobody broke it, and so it goes on behind the hundredth column.\nB.\n"
    assert reflow(prose).text == prose


def test_a_property_is_said_of_what_its_record_describes() -> None:
    text = "Manual > 7. Settings > 7.4. buffer-limit\nSpecifies: How much is read at once.\nType of value: Bytes.\nDefault value: 4096\n"
    said = next(one for one in read(text, section="7. Settings > 7.4. buffer-limit") if one.label == "Default value")
    assert (said.heading, said.before) == ("buffer-limit", "Specifies: How much is read at once.")
    assert said.is_property
    assert not saying("-t: How many threads run.\n-b: Bytes that are read at once, 4096.", "4096").is_property


def test_the_line_below_a_section_number_is_its_heading() -> None:
    text = "Sets how long to wait.\ndefault: 30\n4.15\nNetwork Cipher Option (--net-cipher)\nThe cipher of all links.\ndefault: aes"
    assert saying(text, "aes").heading == "Network Cipher Option (--net-cipher)"
    assert saying(text, "30").heading == "buffer-limit"
    assert (
        saying("It is fed with these.\n3.3\nvolts from the board, and 5 V from outside.", "5 V").heading
        == "buffer-limit"
    )


def test_a_property_below_a_list_is_not_said_of_its_last_item() -> None:
    text = "These formats are there:\n- raw - as it comes\n- zip - packed\ndefault: raw\nexample: format=zip"
    assert saying(text, "default").text == "default: raw"
    assert not any("packed default" in one.text for one in read(text))


def test_entries_of_a_table_of_contents_and_references_say_nothing() -> None:
    text = "- 3.1 Ports\n  - 3.1.1 Serial ports\n    - 3.1.2 What to do about noisy lines\nSee section 7.2 for details of noisy lines."
    assert [one.text for one in read(text) if not one.items] == []
    assert saying("See section 7.2 where the limit is set to 40. It is 50 here.", "40")


def test_lines_of_an_index_say_nothing() -> None:
    index = (
        "Arrows, 12, 40 axes, 7, 61, 88 bars, 101 borders, 9, 33 boxes, 14 captions, 5, 77 circles, 62 clipping, 18, 90"
    )
    assert read(index) == []
    assert saying(
        "Ports 1, 2, 3, 4, 5, 6 and 7 are free, and all of the others belong to the board and its radio.", "free"
    )


def test_a_sentence_that_breaks_off_before_a_path_goes_on_with_it() -> None:
    text = "- Reports and other files are kept in the folder\nD:\\Data\\<user>\\Reports\nIt may be hidden."
    assert saying(text, "D:").text == "Reports and other files are kept in the folder D:\\Data\\<user>\\Reports"
    assert saying("Reports are never deleted by hand.\n/var/lib/reports", "/var").text == "/var/lib/reports"


def test_lines_of_a_program_head_nothing() -> None:
    text = "debug 8 # show header parsing\ndebug 16 # log data written\n      # Raise the limit\n      limit 180 bytes a second"
    assert {one.heading for one in read(text) if not one.items} == {"buffer-limit"}


def test_what_heads_a_box_is_no_heading_of_what_stands_in_it() -> None:
    said = saying("The limit of the buffer.\n\nNote\n\nThis function needs version 221.\n\nDefault: none", "221")
    assert said.heading == "buffer-limit"


def test_a_line_that_begins_with_an_amount_is_no_numbered_heading() -> None:
    text = "3 Memory and clock\n\n- 4 MB Flash for settings and readings\n- 480 MHz clock of both cores\n"
    single = [one for one in read(text) if not one.items]
    assert [one.text for one in single] == ["4 MB Flash for settings and readings", "480 MHz clock of both cores"]
    assert {one.heading for one in single} == {"Memory and clock"}


def test_rows_of_two_cells_without_a_header_are_terms_and_properties() -> None:
    text = "|  |  |\n| --- | --- |\n| Description: | How long a tag stays |\n| Default: | TagTime 60 |\n| --dry | Change nothing |"
    said = saying(text, "TagTime")
    assert (said.text, said.label, said.before) == (
        "Default: TagTime 60",
        "Default",
        "Description: How long a tag stays",
    )
    assert saying(text, "Change").text == "--dry: Change nothing"
    assert saying(f"{text}\nTags are kept for long.", "kept").label == ""


def test_properties_are_of_what_the_paragraph_below_them_describes() -> None:
    text = "- Units: seconds\n- Default: 60\n- Flags: sticky\nHow long a tag stays when nobody says so."
    assert saying(text, "60").before == "How long a tag stays when nobody says so."
    assert saying(text, "seconds").before == "How long a tag stays when nobody says so."


def test_a_short_yes_or_no_stands_with_what_follows() -> None:
    said = saying("No, it cannot. The relay would weld in a second.", "weld")
    assert said.text == said.quote == "No, it cannot. The relay would weld in a second."


def test_a_colon_in_mid_sentence_ends_no_term() -> None:
    assert saying("Now if a tag has a Kind: small header, it is read. Larger tags are not read.", "Larger").label == ""


def test_lines_that_say_the_like_of_several_things_are_a_list() -> None:
    text = "It is in bytes, unless one of these follows:\nK The size is in kilobytes.\nM The size is in megabytes.\nNo size is no limit."
    (group,) = [one for one in read(text) if one.items]
    assert group.items == ("K The size is in kilobytes.", "M The size is in megabytes.")


def test_a_line_of_quoted_options_is_the_term_of_what_follows() -> None:
    text = "'--dry-run' or '-n'\nChange nothing at all today.\n'--quick'\nLeave out the slow checks."
    assert saying(text, "Change").label == "--dry-run"
    assert saying(text, "slow").label == "--quick"


def test_a_bracket_alone_says_nothing() -> None:
    assert not [one for one in read("tag {\n  size = 4\n}") if one.text == "}"]


def test_a_name_before_a_dash_is_the_term_of_its_item() -> None:
    text = (
        "The settings are:\n- max-time - the longest time of a cycle. Said in milliseconds; the default value is 250."
    )
    text += "\n- Once - or twice - it runs."
    said = saying(text, "250")
    assert said.label == "max-time"
    assert said.before.endswith("max-time - the longest time of a cycle.")
    assert saying(text, "twice").label == ""


def test_what_is_said_first_of_a_term_is_said_of_all_its_sentences() -> None:
    text = "-t threads: Specifies the number of threads. Larger is faster. Smaller is safer. Sixteen run. It is 4 otherwise."
    assert saying(text, "otherwise").before.startswith("-t threads: Specifies the number of threads.")
    text = "WorkerThreads=\n\nSpecifies the number of threads. Larger is faster.\n\nA restart is needed. Defaults to 4."
    assert saying(text, "Defaults").before.startswith("Specifies the number of threads.")
    assert saying(text, "Defaults").label == "WorkerThreads"


def test_the_row_that_heads_a_group_is_the_term_of_its_rows() -> None:
    table = "| Sales | 2025 | 2024 |\n|---|---|---|\n| Roofs |  |  |\n| Home | 10 | 20 |\n"
    table += "| Doors: |  |  |\n| Home | 1 | 2 |\n| Total | 11 | 22 |\n"
    assert [one.label for one in read(table) if "2025" in one.text and not one.items] == ["Roofs", "Doors", ""]


def test_a_field_of_a_record_is_not_the_term_of_the_paragraph_below() -> None:
    text = "Default: 300\nModule: auth\nThe setting configures how many seconds a client may take to log in."
    assert saying(text, "configures").label == ""
    assert saying(text, "300").before.startswith("The setting configures")


def test_a_question_that_somebody_asks_heads_what_answers_it() -> None:
    text = (
        "I start it without a network. It hangs. What is wrong?\nIt waits for a server. Set WAIT_METHOD to local.\n"
        "Why is the picture white?\nThe keyword has bad values. Correct them in the header."
    )
    single = [one for one in read(text) if not one.items]
    assert [one.text for one in single] == [
        "It waits for a server.",
        "Set WAIT_METHOD to local.",
        "The keyword has bad values.",
        "Correct them in the header.",
    ]
    assert [one.heading[-9:] for one in single] == ["is wrong?", "is wrong?", "re white?", "re white?"]
    whole = [one.text for one in read(text) if one.items]
    assert "It waits for a server. Set WAIT_METHOD to local." in whole


def test_a_paragraph_of_facts_that_ends_in_a_question_keeps_them() -> None:
    said = [one.text for one in read("The pump starts at 4 bar. The valve opens at 6 bar. What does that mean?")]
    assert said[:2] == ["The pump starts at 4 bar.", "The valve opens at 6 bar."]


def test_a_term_may_have_brackets_with_a_colon_or_full_stop() -> None:
    assert saying("accept = [HOST:]PORT: accept connections on an address", "accept").label == "accept = [HOST:]PORT"
    assert saying("debug = [FACILITY.]LEVEL: debugging level of the log", "debug").label == "debug = [FACILITY.]LEVEL"


def test_a_command_that_is_announced_heads_nothing() -> None:
    said = saying(
        "You can use the following command:\nchmod 600 keyfile\nIt takes the rights of others away.", "others"
    )
    assert said.heading == "buffer-limit"


def test_the_default_below_further_paragraphs_of_a_setting_is_that_settings() -> None:
    text = "client = yes | no: client mode\nIt is only read at the start of the program.\ndefault: no"
    assert "client = yes | no: client mode" in saying(text, "default: no").before


def test_a_property_does_not_end_what_is_said_of_its_setting() -> None:
    text = (
        "MaxWait seconds: The longest time between two reports, in seconds.\nMinimum on a fast line of fibre: 0.07.\n"
        "For values below 0.2 seconds, 0.02 seconds are added.\nDefault: 600 seconds\n"
        "MinWait seconds: The shortest time between two reports.\nDefault: 0.33 * MaxWait"
    )
    assert saying(text, "are added").label == "MaxWait seconds"
    assert saying(text, "600").owner == "MaxWait seconds"
    assert saying(text, "600").before.startswith("MaxWait seconds: The longest")
    assert saying(text, "0.33").owner == "MinWait seconds"


def test_no_line_goes_on_from_the_title_and_section_of_its_passage() -> None:
    head = "Manual > Settings that every program of the package reads at its start > 7.4. buffer-limit"
    text = f"{head}\nbuffer-limit says how many bytes are kept before the program waits for the\nothers to read what"
    text += " it has written into the file that all of them\nshare. It is never more than the limit of the file on the disk."
    first = read(text, section=head.removeprefix("Manual > "))[0]
    assert first.text.startswith("buffer-limit says") and first.text.endswith("share.")


def test_the_path_of_a_section_is_no_statement_wherever_it_begins() -> None:
    path = ("Editor", "2. Creation", "2.3. Grids")
    for begin in range(3):
        shown = " > ".join(path[begin:])
        found = read(f"{shown}\nThe default grid size is 50 mil.", section=" > ".join(path))
        assert [one.text for one in found] == ["The default grid size is 50 mil."], shown


def test_a_sentence_that_goes_on_in_items_is_one_with_them() -> None:
    text = "The X-100 has no 5 V output. The 5 V come from\n- sockets S3 and S4, after pin D5 has been set, or\n- a cable.\n"
    assert "The 5 V come from" not in [one.text for one in read(text)]
    whole = saying(text, "The 5 V come from")
    assert whole.text == "The 5 V come from sockets S3 and S4, after pin D5 has been set; a cable."
    assert whole.quote == "The 5 V come from - sockets S3 and S4, after pin D5 has been set, or - a cable."
    # A whole sentence announces nothing.
    assert (
        saying("It has two inputs.\n- the first is slow\n- the second is fast\n", "two inputs").text
        == "It has two inputs."
    )


def test_a_default_in_brackets_belongs_to_the_label() -> None:
    found = [
        one
        for one in read("size_limit (default: 10 MB): The maximal size. The value cannot exceed 2 GB.")
        if not one.items
    ]
    assert [(one.label, one.text) for one in found] == [
        ("size_limit (default: 10 MB)", "size_limit (default: 10 MB): The maximal size."),
        ("size_limit (default: 10 MB)", "The value cannot exceed 2 GB."),
    ]


def test_the_number_of_an_item_is_what_it_is_about_where_its_list_begins_with_0() -> None:
    text = (
        "The exit codes are:\n0. All went well.\n1. There was no mail.\n\n"
        "The steps are:\n1. Open the valve by hand.\n2. Close the valve by hand."
    )
    (codes,) = [one for one in read(text) if one.items and "codes" in one.text]
    assert codes.items == ("0: All went well.", "1: There was no mail.")
    assert (saying(text, "no mail").text, saying(text, "no mail").label) == ("1: There was no mail.", "1")
    assert saying(text, "Close").text == "Close the valve by hand."


def test_a_line_that_begins_with_an_option_is_about_that_one() -> None:
    text = "--insecure-links: follow the links of others\n--owner, -o preserve the owner (super-user only)"
    assert "links" not in saying(text, "preserve").label
    summary = [
        "--hard-links, -H         preserve hard links of files",
        "  --perms, -p              preserve permissions of files",
        "  --executability, -E      preserve executability of them",
        "  --chmod=CHANGES          affect permissions of the files",
        "  --acls, -A               preserve ACLs of files and folders",
    ]
    for text in (
        "\n".join(summary),
        "\n".join(line.strip() for line in ["--links     Follow The Links Of Others", *summary]),
    ):
        said = saying(text, "ACLs")
        assert not {"hard", "Follow"} & {*said.label.split("-"), *said.heading.split()}


def test_a_list_that_began_in_the_passage_before_keeps_its_numbers() -> None:
    text = "3. The user authentication step failed.\n4. Some sort of fatal protocol error was detected."
    assert saying(text, "authentication").text == "3: The user authentication step failed."
    assert saying("1. The user authentication step failed.\n2. It ends.", "authentication").label == ""


def test_a_statement_of_a_configuration_that_is_only_written_out_keeps_its_name_for_what_follows() -> None:
    text = "The lease-time statement: lease-time time;\nTime is the length in seconds of a lease.\nThe default is 43200 seconds."
    assert saying(text, "43200").label == "The lease-time statement"


def test_what_only_refers_to_an_option_says_nothing() -> None:
    text = "-H: Check the health of the disk.\n[Please see the smartctl -H command-line option.]\n(See also the -a option.)"
    assert [one.text for one in read(text) if not one.items] == ["-H: Check the health of the disk."]


def test_what_only_says_where_says_nothing() -> None:
    text = "The program makes a list.\nSee USAGE NOTES below.\nSee the list of names above for what they mean, and keep it."
    assert len([one for one in read(text) if not one.items]) == 2


def test_outer_sections_may_be_left_out_of_the_path_above_a_passage() -> None:
    text = "Manual > NAME\nlister - makes a list of all the names that a file has"
    assert [one.text for one in read(text, section="LISTER > NAME")] == [
        "lister - makes a list of all the names that a file has"
    ]


def test_fields_below_a_heading_are_of_what_is_described_below_them() -> None:
    said = read(
        "## max_calls\nUse: main\nType: integer\nDefault: 20\nThis is the number of calls taken at once. More wait."
    )
    (default,) = [one for one in said if one.label == "Default"]
    assert (default.heading, default.before) == ("max_calls", "This is the number of calls taken at once.")


def test_the_default_below_a_definition_is_of_its_setting() -> None:
    said = read(
        "retry_delay: How many seconds it waits before it tries the whole of it again.\nThe default is: 10\n"
        "retry_count: How many times it tries before it gives all of it up.\nThe default is: 30"
    )
    assert [(one.text, one.owner) for one in said if one.is_property] == [
        ("The default is: 10", "retry_delay"),
        ("The default is: 30", "retry_count"),
    ]


def test_a_name_with_its_colon_within_a_sentence_begins_no_definition() -> None:
    said = saying("Bounces contain an X-Failed-Recipients: header line that lists the addresses.", "Bounces")
    assert said.label == ""


def test_a_reference_to_another_page_says_nothing() -> None:
    said = read(
        "The setting 'a' was replaced with 'b'. See <Parameters for SSL> [Upgrading.txt].\nAll else is as before."
    )
    assert not any("See" in one.text for one in said)


def test_the_outer_part_of_the_path_of_headings_says_nothing() -> None:
    path = "Manual > Settings > 7.4. buffer-limit"
    assert [one.text for one in read("Manual > Settings\nIt is 4 MB at first.", section=path)] == [
        "It is 4 MB at first."
    ]


SETTINGS_BY_SYNTAX = """Syntax: max-tabs <number>
Default: 10
Example: max-tabs 4
The number of tabs that are opened at once.
Syntax: reload-time <number>
Default: 60
The number of minutes between reloads."""


def test_properties_that_begin_with_a_syntax_are_of_its_name_and_what_follows() -> None:
    said = read(SETTINGS_BY_SYNTAX, section="Commands")
    defaults = [(one.owner, one.before) for one in said if one.label == "Default"]
    assert defaults == [
        ("max-tabs", "The number of tabs that are opened at once."),
        ("reload-time", "The number of minutes between reloads."),
    ]
    assert [one.label for one in said if "minutes" in one.text] == ["reload-time"]


def test_a_format_before_a_dash_is_a_term() -> None:
    assert saying("%b - Numerical 8-bit value\n%w - Numerical 16-bit value", "16-bit").label == "%w"


def test_the_index_of_a_book_says_nothing() -> None:
    index = "-X FILE . . . . . . . . . . . . . 77 -y FORMAT . . . . . . . . . 67, 84"
    assert not read(index, section="Commands & Options Index")
    assert read("An index makes searching faster. It is . . . . large.", section="Making an index faster")


def test_terms_above_each_other_head_the_definition_below_the_last() -> None:
    text = "AccessLog all: All is logged. The default is some.\nAutoPurge Yes:\nAutoPurgeJobs No:\nSays whether old jobs are forgotten."
    assert saying(text, "forgotten").label == "AutoPurgeJobs No"


def test_properties_below_a_setting_with_the_sort_of_its_value_are_of_it() -> None:
    text = """memory_start = number
Default value: 1.
Available from version 3. Tells where messages begin.
messageids = yes/no
Default value: no.
Whether messages are numbered."""
    said = [(one.owner, one.before) for one in read(text, section="Modem settings") if one.label == "Default value"]
    assert said == [
        ("memory_start", "Available from version 3. Tells where messages begin."),
        ("messageids", "Whether messages are numbered."),
    ]


def test_values_are_of_their_setting_until_another_term_or_heading() -> None:
    text = """Forwarding = <off|internal>: Selects how packets are forwarded.

It is seldom set.

off: They are dropped.

Graph = file: Where the graph is written.

off: No graph."""
    said = [(one.owner, one.before) for one in read(text) if one.own_label and one.label == "off"]
    assert said == [
        ("Forwarding = <off|internal>", "Forwarding = <off|internal>: Selects how packets are forwarded."),
        ("", ""),
    ]
    below = read("Forwarding = <off|internal>: Selects a way.\n\n## Graphs\n\noff: No graph is written at all.")
    assert [one.owner for one in below if one.label == "off"] == [""]


def test_options_alone_are_what_the_paragraph_below_them_is_about() -> None:
    text = """--dump <file>
Write all memory to <file>.
-m, --memory <size>
Set how much memory there is, 1 to 14 MiB. Other values count as KiB.
--sound=<rate>
Enable sound output
--no-sound"""
    said = {one.text.split()[0]: one.label for one in read(text, section="Memory options") if not one.items}
    assert said == {
        "Write": "--dump <file>",
        "Set": "-m, --memory <size>",
        "Other": "-m, --memory <size>",
        "--sound=<rate>": "",  # A heading may be below.
        "--no-sound": "",
    }


def test_a_setting_in_capitals_that_is_an_example_is_a_statement() -> None:
    text = "To fetch from all folders, you would write:\nfolders = ALL"
    assert [one.text for one in read(text, section="Folders")] == [
        "To fetch from all folders, you would write:",
        "folders = ALL",
        "To fetch from all folders, you would write: folders = ALL",
    ]
    texts = [(one.text, one.label) for one in read("Such a file:\nmode = TLS\nport = 993", section="Files")]
    assert ("mode = TLS", "") in texts
    assert ("port = 993", "") in texts
    below = read("These settings are read:\nfolders = PATH\nWhere mail is put. It must exist before.", section="Files")
    assert [one.label for one in below if "must exist" in one.text] == ["folders"]


def test_the_lines_of_a_row_are_of_what_its_first_cell_names() -> None:
    text = "Attribute: compressLevel\nType: integer\nDescription: How small files are made. Larger takes longer."
    said = [(one.label, one.text) for one in read(text, section="Writer") if not one.items]
    assert said == [
        ("Attribute", "Attribute: compressLevel"),
        ("Type", "Type: integer"),
        ("compressLevel", "Description: How small files are made."),
        ("compressLevel", "Larger takes longer."),
    ]
    assert saying("Description: How small files are made.", "small").label == "Description"


def test_a_total_is_of_the_group_whose_first_row_it_is_and_of_its_year() -> None:
    table = "| Sales | East | West |\n|---|---|---|\n| 2025 |  |  |\n| Total sales | 10 | 20 |\n| Costs | 3 | 4 |\n"
    table += (
        "| Total income | 7 | 16 |\n| 2024 |  |  |\n| Total sales | 1 | 2 |\n| Costs | 1 | 1 |\n| Total | 12 | 23 |\n"
    )
    labels = [one.label for one in read(table) if "East" in one.text and not one.items]
    assert labels == ["2025", "2025", "2025", "2024", "2024", ""]


def test_short_answers_below_questions_are_statements_of_theirs() -> None:
    said = saying("Q. How long does it last?\nA. Seven hours. Then it has to be charged.", "A. Seven hours.")
    assert (said.heading, said.text) == ("Q. How long does it last?", "A. Seven hours.")
    said = saying("3. How long does it last?\nSeven hours.\n4. May I swim with it?\nNever do.", "Never do")
    assert said.heading == "May I swim with it?"
    listed = read("Ask the maker:\n1. How long does it last?\n2. May I swim with it?\n3. What does it weigh?")
    assert not any(one.heading.endswith("?") for one in listed)


def test_a_question_is_the_term_of_all_sentences_of_its_answer() -> None:
    text = "Q: How long does it last?: A: Seven hours. Then it has to be charged."
    assert saying(text, "be charged").label == "Q: How long does it last?"


def test_a_long_option_in_capitals_that_is_no_line_of_its_own_is_read_in_one_way() -> None:
    text = f"-D{'WITHOUT' * 20}!\nSwitches the pump off while nobody is there."
    assert saying(text, "pump off").label == ""
    assert (
        saying("-m, --memory <size>KB\nSets how much of it there is at once.", "how much").label
        == "-m, --memory <size>KB"
    )


def test_a_name_is_the_term_of_what_follows_a_long_remark_in_brackets() -> None:
    said = saying(
        'title-format (parameters: <format>; default value: "%N %V - all that there is, and how much of it is new"): The title.',
        "The title",
    )
    assert said.label == "title-format"


def test_a_default_is_of_the_term_that_stands_alone_above_it() -> None:
    text = "string charset:\nDefault: auto\nIt is used for what is shown.\nThe following settings are read:\nDefault: 3"
    said = saying(text, "auto")
    assert (said.label, said.owner) == ("Default", "string charset")
    assert saying(text, "is used").label == "string charset"


def test_lines_of_a_program_that_end_in_semicolons_are_read_with_what_announces_them() -> None:
    text = "It is 550, unless the file has this:\nquota {\n  exit-tempfail yes;\n}\nThen it is temporary."
    assert any("this: quota {; exit-tempfail yes" in one.text for one in read(text))


def test_properties_of_one_setting_are_no_list() -> None:
    text = "Syntax: proxy-type <type>\nDefault: http\nExample: proxy-type socks5\nSets the kind of proxy.\n"
    assert not [one for one in read(text) if one.items]
    things = "-a: Shows all of it.\n-b: Shows what is below.\n"
    assert [one.items for one in read(things) if one.items] == [("-a: Shows all of it.", "-b: Shows what is below.")]


def test_a_sentence_that_breaks_off_before_an_option_goes_on_with_it() -> None:
    text = "It is possible to keep the valves shut. This is achieved using\n\n-dKeepShut = true/false\n\nwhich is off by default."
    whole = "It is possible to keep the valves shut. This is achieved using -dKeepShut = true/false"
    assert saying(text, "KeepShut").text == whole


def test_an_answer_of_nothing_but_no_is_said_with_its_question() -> None:
    said = saying("May I swim with it?\nNo.\nWhat does it weigh?\nNine grams.", "No.")
    assert (said.heading, said.text) == ("May I swim with it?", "No.")
    said = saying("May I swim with it?\nNo. Its case is open.", "open")
    assert said.text == "No. Its case is open."
    assert [one.text for one in read("No.\nIts case is open, and water gets in.")] == [
        "Its case is open, and water gets in."
    ]


def test_a_line_of_a_listing_in_columns_heads_nothing_below_it() -> None:
    text = "Idle pumps are stopped:\n\nset pump idle off      let it run\n\nAt the start 12 pumps are known."
    assert saying(text, "12 pumps").heading == "buffer-limit"
    assert saying(text, "let it run").label == "set pump idle off"


def test_a_list_ends_where_another_heading_begins_and_is_announced_by_its_own() -> None:
    text = "These parts are sold:\nPump parts\n- 3D rotor\n- Red seal\n- Blue seal\nTank parts\n- Lid\n- Float"
    lists = [one.text for one in read(text) if one.items]
    assert lists == ["Pump parts: 3D rotor; Red seal; Blue seal", "Tank parts: Lid; Float"]


def test_a_short_answer_below_a_heading_that_asks_without_a_mark_is_a_statement() -> None:
    said = [one.text for one in read("Not a chance.", section="Questions > 2.9. Can I use the pump with oil")]
    assert said == ["Not a chance."]
    assert read("Not a chance.", section="Questions > 2.9. Oil in the pump") == []


def test_lines_in_columns_are_statements_each_and_their_names_carry_no_further() -> None:
    text = "Errors are:\nerror     code     done\nno water     1     stop\nno power     2     wait\nIt is told again."
    said = read(text)
    assert [one.text for one in said if not one.items][:3] == ["error code done", "no water 1 stop", "no power 2 wait"]
    assert saying(text, "told again").label == ""
    assert sum(bool(one.items) for one in said) == 1


def test_rows_are_of_the_date_that_the_sentence_above_their_table_says() -> None:
    table = "| (in millions) | Total | Level 1 |\n|---|---|---|\n| Bonds | 28 | 8 |\n| Loans: |  |  |\n| To others | 7 | 7 |\n"
    rows = [one.label for one in read(f"The fair value at March 3, 2021 was as follows:\n\n{table}") if one.cells]
    assert rows == ["March 3, 2021", "Loans, March 3, 2021"]
    two = [
        one.label
        for one in read(f"The fair value in fiscal 2021 and fiscal 2020 was as follows:\n\n{table}")
        if one.cells
    ]
    assert two == ["", "Loans"]


def test_rows_that_name_their_years_are_of_no_other() -> None:
    table = "| (in millions) | 2022 | 2021 |\n|---|---|---|\n| Bonds | 28 | 8 |\n"
    assert [one.label for one in read(f"These are the values since 2019:\n\n{table}") if one.cells] == [""]


def test_a_colon_within_brackets_ends_no_term() -> None:
    text = "The North Gate (German: Nordtor, said with a long o (as in more) by all who live near it) stands. It burnt down in one night."
    assert saying(text, "burnt").label == ""
    assert saying("mode (one of: off, on): how it runs", "runs").label == "mode (one of: off, on)"


def test_the_words_before_a_full_stop_with_which_an_item_begins_are_its_term() -> None:
    text = "The pump has these states:\n- Idle. It waits for a start.\n- Held back. The valve is shut until the tank is full."
    idle, held = saying(text, "waits"), saying(text, "shut")
    assert (idle.label, idle.text) == ("Idle", "Idle. It waits for a start.")
    assert (held.label, held.text) == ("Held back", "Held back. The valve is shut until the tank is full.")


def test_broken_lines_below_a_term_are_put_together_beside_a_flowing_paragraph() -> None:
    flowing = "The pump reads its settings when it is started, and again when somebody presses the button, which takes a while."
    options = """-d    The delay between two strokes of the pump, where the mode of the
      strokes is set to slow. The strokes of the pump are then divided in
      groups of eight.
      DEFAULT: 25"""
    said = saying(f"{flowing}\n{options}\n{flowing}", "divided")
    assert said.text == "The strokes of the pump are then divided in groups of eight."
    assert saying(f"{flowing}\n{options}", "DEFAULT").text == "DEFAULT: 25"
    assert len([one for one in read(f"{flowing}\n{flowing}") if "while" in one.text]) == 2


def test_what_stands_below_the_last_column_of_a_line_is_about_its_first_one() -> None:
    text = (
        "-d    The delay between two strokes of the pump.\n      Long ones spare the valves of it.\n      DEFAULT: 25"
    )
    assert (saying(text, "valves").label, saying(text, "25").owner) == ("-d", "-d")
    assert saying("-d    The delay between two strokes\nStrokes are counted from zero.", "zero").label == ""


def test_a_setting_before_a_sentence_is_its_term_and_that_of_the_properties_below() -> None:
    text = """max_idle

- Default: 10

max_pumps This setting is only for large plants. It limits how many pumps run.

- Default: 8
- Pumps are counted from one."""
    assert saying(text, "large plants").label == "max_pumps"
    assert saying(text, "Default: 8").owner == "max_pumps"
    assert saying("max_pumps and Max are read once at the start of it.", "read once").label == ""


def test_a_default_of_three_words_is_quoted_with_the_sentence_before() -> None:
    said = read("The parameter WARM says that the tank is heated. Default is unheated. Tanks are closed.")
    assert "The parameter WARM says that the tank is heated. Default is unheated." in [one.text for one in said]


def test_a_line_of_settings_below_as_follows_is_one_with_what_announces_it() -> None:
    text = """To heat all tanks, set the variable as follows
PLANT_HEATED_TANKS=ALL_OF_THEM
Then restart the plant at once."""
    assert any(one.items and "PLANT_HEATED_TANKS=ALL_OF_THEM" in one.text for one in read(text))


COMMENTED = """Plant > Pumps
    # Say nothing to the operator of all the tanks that have
    # run dry, nor to those of the pumps that stand beside it,
    # but write it down, with the time and date (default: no)
    quiet_tanks <YES|NO>

    # Minutes that the pumps rest after a night of work.
    #rest_after 20
"""


def test_a_comment_is_about_the_settings_right_below_it_also_those_that_are_left_as_they_are() -> None:
    said = read(COMMENTED, section="Plant > Pumps")
    assert [one.label for one in said if "write it down" in one.text or "rest after" in one.text] == [
        "quiet_tanks <YES|NO>",
        "rest_after 20",
    ]


def test_a_setting_is_no_part_of_the_comment_above_it_and_the_passages_own_heading_no_term() -> None:
    said = read(COMMENTED, section="Plant > Pumps")
    assert not any("(default: no)" in one.text and "quiet_tanks" in one.text for one in said)
    assert "Plant > Pumps" not in {one.label for one in said}


def test_a_command_of_an_example_behind_the_prompt_of_root_heads_nothing() -> None:
    text = "-r folder: Opens the valves that a folder names. Operators may.\nExample:\n# valves -r /srv/plant\n\n-s: Shuts all valves."
    assert saying(text, "Shuts all valves").heading == "buffer-limit"
