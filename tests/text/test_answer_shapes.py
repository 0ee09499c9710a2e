import pytest

from kgrag.text.answer_shapes import answer_shape, by_default


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the default of max_connections?", "number"),
        ("On which port does the server listen?", "number"),
        ("What is the supply voltage of the X-100?", "quantity"),
        ("How long does the battery last?", "quantity"),
        ("How many digital inputs does it have?", "count"),
        ("Which option makes it run in the foreground?", "name"),
        ("What key combination marks a packet?", "keys"),
        ("Which keys do I have to press for the menu?", "keys"),
        ("What do I press to zoom out?", "keys"),
        ("Which key does the API need?", "plain"),
        ("Where does the client look for it when it connects?", "where"),
        ("When it crashes, where is the core kept?", "where"),
        ("Where do I see who is connected?", "where"),
        ("When does it ask who is there?", "when"),
        ("Where did the storm begin and when did it end?", "when"),
        ("Which key signs the release?", "plain"),
        ("How small may the gap be?", "quantity"),
        ("How short can a cable get?", "quantity"),
        ("What four sums are shown when plots are compared?", "list"),
        ("What is the cost compared to the old pump?", "comparison"),
        ("What is added to the name of a copy?", "plain"),
        ("What is a need?", "definition"),
        ("Which user does the pump run as if I name none?", "name"),
        ("Which encoding is assumed?", "name"),
        ("Which key zooms out?", "keys"),
        ("What function key repeats the last step at once?", "keys"),
        ("What are the steps of a restore?", "list"),
        ("How do I print the odd pages instead?", "steps"),
        ("To how many digits are sums compared?", "count"),
        ("In which units is the delay counted?", "unit"),
        ("In which units does the odometer run?", "unit"),
        ("I set pause=20 in the file. 20 what?", "unit"),
        ("The pause is 20: is that seconds?", "unit"),
        ("Are these two numbers pixels?", "unit"),
        ("What is the spacing measured in?", "unit"),
        ("Which unit starts the daemon?", "plain"),
        ("Which units does the daemon start?", "list"),
        ("The width is a multiple of what?", "quantity"),
        ("If I stop the daemon, is its file kept?", "yes/no"),
        ("Before I wipe the disk: can I rely on its name?", "yes/no"),
        ("What happens if I stop it, is its file kept?", "plain"),
        ("It refuses the file, is there an option for it?", "name"),
        ("Lowest value that it takes for the pause?", "number"),
        ("What's the most that I can set?", "number"),
        ("What is the longest delay it accepts?", "quantity"),
        ("At what average price did it buy back shares?", "quantity"),
        ("With which command does it list its parts?", "name"),
        ("How long does it wait before it tries the next one in the list?", "quantity"),
        ("List the parts of the X-100.", "summary"),
        ("What must I use instead of exec?", "name"),
        ("What switch takes the feeder instead of the glass?", "name"),
        ("What do I gain with the first versus the second?", "comparison"),
        ("Which voltages can the output have?", "quantity"),
        ("What can the mode be set to?", "list"),
        ("What does the daemon do out of the box if the disk is full?", "plain"),
        ("How precise is the clock?", "quantity"),
        ("Which order is assumed if I write none of them?", "number"),
        ("Is there a shortcut for it?", "yes/no"),
        ("Which environment variable names the folder?", "name"),
        ("Which leak kinds can be shown?", "list"),
        ("Which types of data sources are there?", "list"),
        ("Is multithreading supported?", "yes/no"),
        ("How can I change the port?", "steps"),
        ("How do smooth and rough treat equal points?", "plain"),
        ("What is the oldest version that can still be read?", "number"),
        ("What is the oldest town?", "definition"),
        ("What is a partial index?", "definition"),
        ("What does the option -c do?", "definition"),
        ("How do COUNTER and DERIVE differ?", "comparison"),
        ("Why is X used instead of Y?", "comparison"),
        ("Which option appends to the file instead of overwriting it?", "name"),
        ("Which options are read rather than -a?", "list"),
        ("Why is the relay switched off?", "why"),
        ("Summarise the features of the X-100.", "summary"),
        ("Who designed the X-1000?", "who"),
        ("default page size", "number"),
        ("Which debug level logs all data?", "plain"),
        ("Which signal is sent to a command that runs too long?", "name"),
        ("What is the default path of the log?", "name"),
        ("What operating margin is planned for fiscal 2023?", "number"),
        ("What is the price of a licence?", "quantity"),
        ("What net sales does Ulta expect for fiscal 2023?", "number"),
        ("Are the comparable sales of the two years given?", "yes/no"),
        ("Which feature is missing in the Windows port?", "plain"),
        ("Which port does the server use by default?", "number"),
        ("What is the annual fee for the service?", "quantity"),
        # Of several sentences the last one that asks.
        ("There is a typo in the middle of my configuration. Is everything after it skipped?", "yes/no"),
        ("The meter in the garage is an hour behind after the winter. How long may it wait for the clock?", "quantity"),
        ("I get 1 and 2 instead of Male and Female. Which option changes that?", "name"),
        ("My pictures stay on the card. What does `E-12` mean? Thank you", "definition"),
        ("The keyboard is dead. It does not work, why I do not know.", "why"),
        # Whether there is an option: its name is asked for.
        ("Is there an option that leaves the members away?", "name"),
        ("Are there any command line switches for it?", "name"),
        ("Is there a second CAN interface?", "yes/no"),
        ("Is there an option called `--members`?", "yes/no"),
        ("Lines are lost at night: which option says how many are kept?", "name"),
        ("Which environment variable says how many seconds a lease has left?", "name"),
        ("A client drops after an hour. What's the switch for that?", "name"),
        ("How is the recorder.conf setting called that limits its speed?", "name"),
        ("I want the margins gone before we print. recorder switch?", "name"),
        ("The clock is kept in local time. What do I add to recorder.conf?", "name"),
        ("recorder: option to keep the file for an hour?", "name"),
        ("What do I set the interval to?", "quantity"),
        ("What is the default setting for how long it waits?", "quantity"),
        ("What is the size of the option field?", "number"),
        ("What does the option -k do?", "definition"),
    ],
)
def test_the_wording_tells_the_shape_of_the_answer(question: str, kind: str) -> None:
    assert answer_shape(question).kind == kind


def test_a_quantity_is_asked_for_with_its_dimension() -> None:
    assert answer_shape("What is the supply voltage?").dimensions == ("voltage",)
    assert answer_shape("How heavy is it?").dimensions == ("mass",)
    assert answer_shape("How many volts does it need?") == ("count", ("voltage",))
    assert answer_shape("By how many degrees is it turned?") == ("count", ("angle", "temperature"))
    assert answer_shape("How many degrees Celsius may it get?") == ("count", ("temperature",))
    assert answer_shape("How many files can be opened?") == ("count", ())


@pytest.mark.parametrize(
    ("question", "dimensions"),
    [
        ("Which call replaces wifi.send on the controller whose standby current is 0.5 mA?", ()),
        ("Which voltage does a board with a current of 2 A need?", ("voltage",)),
        ("How long does the battery last at a current of 10 mA?", ("time", "length")),
        ("What current does it draw at a voltage of 3.3 V?", ("current",)),
        ("What current is drawn at a current of 2 A by the other rail?", ("current",)),
        ("What current does 3.3 V give?", ("current",)),
        ("What is the area of the continent with the lowest average temperature?", ("area",)),
        ("What is the lowest temperature?", ("temperature",)),
    ],
)
def test_what_a_question_gives_is_not_asked_for(question: str, dimensions: tuple[str, ...]) -> None:
    assert answer_shape(question).dimensions == dimensions


def test_a_question_for_how_many_asks_as_well_for_what_it_asks_before() -> None:
    assert answer_shape("How far may the cable reach, and how many nodes hang on it?") == ("count", ("length",))
    assert answer_shape("At a current of 2 A, how many lamps can be lit?") == ("count", ())


def test_how_many_steps_there_are_is_a_count() -> None:
    assert answer_shape("How many calibration steps are kept by default?").kind == "count"
    assert answer_shape("Tell me the steps to calibrate it").kind == "steps"


def test_a_wide_angle_is_an_angle() -> None:
    assert answer_shape("How wide is the viewing angle?") == ("quantity", ("angle",))
    assert answer_shape("How wide is the board?") == ("quantity", ("",))
    assert answer_shape("Which voltages can the output have?").dimensions == ("voltage",)
    assert answer_shape("How precise is the clock?").dimensions == ("",)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("Which port is open if nothing was changed?", "Which port is open by default?"),
        ("How many backups are kept out of the box?", "How many backups are kept by default?"),
        ("How many points are drawn if I do not set anything?", "How many points are drawn by default?"),
        ("What is UMASK if I never touch it?", "What is UMASK by default?"),
        ("Unless told otherwise, where are logs?", "by default, where are logs?"),
        ("Which cipher is used unless I choose another?", "Which cipher is used by default?"),
        ("Which port is open if I haven't changed anything in the server?", "Which port is open by default?"),
        ("What unit is meant when I give none?", "What unit is meant by default?"),
        ("Where do reports go if I pass no folder?", "Where do reports go by default?"),
        ("Are comments kept without me doing anything?", "Are comments kept by default?"),
        ("What does it do out of the box if the disk is full?", "What does it do by default if the disk is full?"),
        ("How large is the font normally?", "How large is the font by default?"),
        ("What is normally done about it?", "What is normally done about it?"),
        ("What happens if I do not specify a port?", "What happens if I do not specify a port?"),
        ("What does it do unless set to 0 in the file?", "What does it do unless set to 0 in the file?"),
        ("Is the pump reversible unless I say so?", "Is the pump reversible by default?"),
        ("How hot is it when I do nothing?", "How hot is it by default?"),
        ("How hot is it when the file says nothing?", "How hot is it by default?"),
        ("How hot is it if nothing is said in the pump section?", "How hot is it by default?"),
        ("How many may run if max_pumps is left alone?", "How many may run by default for max_pumps?"),
        ("How long does it wait when the idle time isn't set?", "How long does it wait by default for the idle time?"),
        ("What happens if the idle time is not set?", "What happens if the idle time is not set?"),
        ("Does it run if the idle time is not set?", "Does it run if the idle time is not set?"),
        ("How long does it wait if it is not set to 0?", "How long does it wait if it is not set to 0?"),
        (
            "How long is it if I leave that field blank in the second step?",
            "How long is it by default in the second step?",
        ),
        ("What happens if I leave the pump alone?", "What happens by default?"),
        ("What does it do if I leave the second pump blank?", "What does it do if I leave the second pump blank?"),
        ("How large is the buffer if I give no -B?", "How large is the buffer if I give no -B?"),
    ],
)
def test_a_clause_that_means_the_default_is_read_as_it(question: str, meant: str) -> None:
    assert by_default(question) == meant


def test_what_a_thing_controls_or_means_asks_what_it_is_also_behind_a_clause() -> None:
    assert answer_shape("What does the pump_rate option control?").kind == "definition"
    assert answer_shape("In the list of pumps, what does the letter d in the current row mean?").kind == "definition"
    assert answer_shape("What voltage does the pump control?").kind == "quantity"
