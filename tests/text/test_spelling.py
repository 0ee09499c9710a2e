import pytest

from kgrag.text.language import language
from kgrag.text.spelling import corrected

TEXT = (
    "The default compression level is 1. The allocation of telnet ports. Set max_connections for the X-100 of Tarnfell. Its code is 4. \
An eager-start takes a low-power relay. SSLCacheTimeout: 300. max_price is not known."
)
WORDS = {"price", "weight", "level", "port", "cage", "prices"}


@pytest.mark.parametrize(
    ("question", "read_as"),
    [
        ("What is the defualt level?", "What is the default level?"),
        ("defalt telnett port", "default telnet port"),
        ("Is the alocation of prots known?", "Is the allocation of ports known?"),
        ("Compresion level?", "Compression level?"),
        ("Which cdoe is it?", "Which code is it?"),
        ("What is the default level?", "What is the default level?"),
        ("What does eagre-start do?", "What does eager-start do?"),
        ("a low-pwoer relay", "a low-power relay"),
        # The text has no such word, or the parts are words.
        ("an eagre-level relay", "an eagre-level relay"),
        ("a weight-start relay", "a weight-start relay"),
        # Of four letters only two that are swapped are an error.
        ("Which cove is it?", "Which cove is it?"),
        # A word that is one, an inflection, a name, an identifier and a number stay.
        ("What is the price?", "What is the price?"),
        ("Which levels are there?", "Which levels are there?"),
        ("Does Tarnfel make it?", "Does Tarnfel make it?"),
        ("What is --defualt?", "What is --defualt?"),
        # Of an identifier one part may be mistyped, and it is no word.
        ("What is max_conections?", "What is max_connections?"),
        ("What is SSLCachTimeout?", "What is SSLCacheTimeout?"),
        ("What is SSLCageTimeout?", "What is SSLCageTimeout?"),
        ("What is min_connections?", "What is min_connections?"),
        ("What is max_prices?", "What is max_prices?"),
        ("Is the X-101 there?", "Is the X-101 there?"),
        # A name with a number is written with other capitals, another hyphen, or for several; with another number it is another.
        ("weight of the x-100", "weight of the X-100"),
        ("do x100s sleep", "do X-100 sleep"),
        ("weight of the x-1000", "weight of the x-1000"),
        ("is x1-00 a part?", "is x1-00 a part?"),
    ],
)
def test_a_mistyped_word_is_read_as_the_text_has_it(question: str, read_as: str) -> None:
    assert corrected(question, TEXT, is_word=WORDS.__contains__) == read_as


def test_the_language_of_a_question_is_told() -> None:
    assert language("Auf welchem Port lauscht der Server?") == "German"
    assert language("What is the default port of the server?") == "English"
