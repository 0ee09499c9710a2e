import pytest

from kgrag.text.answer_shapes import answer_shape


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is the default of max_connections?", "number"),
        ("On which port does the server listen?", "number"),
        ("What is the supply voltage of the X-100?", "quantity"),
        ("How long does the battery last?", "quantity"),
        ("How many digital inputs does it have?", "count"),
        ("Which option makes it run in the foreground?", "name"),
        ("Which environment variable names the folder?", "name"),
        ("Which leak kinds can be shown?", "list"),
        ("Which types of data sources are there?", "list"),
        ("Is multithreading supported?", "yes/no"),
        ("How can I change the port?", "steps"),
        ("What is a partial index?", "definition"),
        ("What does the option -c do?", "definition"),
        ("How do COUNTER and DERIVE differ?", "comparison"),
        ("Why is the relay switched off?", "why"),
        ("Summarise the features of the X-100.", "summary"),
        ("Who designed the X-1000?", "who"),
        ("default page size", "number"),
        ("Which debug level logs all data?", "plain"),
        ("Which signal is sent to a command that runs too long?", "name"),
        ("What is the default path of the log?", "name"),
        ("What operating margin is planned for fiscal 2023?", "number"),
    ],
)
def test_the_wording_tells_the_shape_of_the_answer(question: str, kind: str) -> None:
    assert answer_shape(question).kind == kind


def test_a_quantity_is_asked_for_with_its_dimension() -> None:
    assert answer_shape("What is the supply voltage?").dimensions == ("voltage",)
    assert answer_shape("How heavy is it?").dimensions == ("mass",)
