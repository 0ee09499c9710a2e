from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.steps.near_duplicates import Said, first_of_each
from kgrag.text.words import plain_words

REPEATED = "The radio module supports Bluetooth and has a range of about ten meters in the open field"
SENTENCES = [
    "At least 780 MB of memory are needed for a normal installation of the system.",
    "Installations with less memory may be possible but are only for experienced users.",
    "A desktop needs at least 10 GB of the disk, and all tasks together need even more.",
    "Servers that keep much mail need a larger partition for what varies than is proposed.",
]


def piece(context: str, body: str, *subjects: str) -> Said:
    return Said(context, plain_words(body), frozenset(subjects))


def said(*bodies: str, context: str = "") -> list[Said]:
    return [piece(context, body) for body in bodies]


def test_a_copy_with_another_product_name_is_left_out() -> None:
    texts = said(f"X-Lite {REPEATED}", "Something else", f"X-Pro {REPEATED}")
    assert first_of_each(texts, threshold=0.8) == [0, 1]


def test_a_copy_with_another_number_is_kept() -> None:
    texts = said(f"{REPEATED} at 3.3 V", f"{REPEATED} at 33 V", f"{REPEATED} at 3.3 V")
    assert first_of_each(texts, threshold=0.8) == [0, 1]


def test_copies_about_different_subjects_of_the_question_are_kept() -> None:
    texts = [piece("", REPEATED, name) for name in ("lite", "pro", "pro")]
    assert first_of_each(texts, threshold=0.8) == [0, 1]


def test_the_greatest_threshold_leaves_out_only_what_has_no_other_words() -> None:
    texts = said(REPEATED, f"{REPEATED} indeed", REPEATED.upper(), "range of about ten meters in the open field")
    assert first_of_each(texts, threshold=1.0) == [0, 1]


def test_a_manual_in_two_formats_is_shown_once_though_it_is_divided_at_other_places() -> None:
    one, two, three, four = SENTENCES
    html, text = "2.5. Memory and Disk Space", "Installation Guide > 2. Requirements > 2.5. Memory and Disk Space"
    texts = [
        piece(html, f"{one} {two}"),
        piece(html, f"{three} {four}"),
        piece(text, one),
        piece(text, f"{one} {two} {three}"),
        piece(text, four),
    ]
    assert first_of_each(texts, threshold=0.85) == [0, 1]


def test_what_earlier_pieces_say_with_another_number_is_kept() -> None:
    long = " ".join(SENTENCES)
    other = long.replace("10 GB", "20 GB")
    assert first_of_each([piece("Guide", long), piece("Guide", other)], threshold=0.5) == [0, 1]


def test_the_same_words_in_another_products_manual_are_kept() -> None:
    one, two, three, _ = SENTENCES
    texts = [piece("X-Lite installation", f"{one} {two}"), piece("X-Pro installation", f"{two}"), piece("", three)]
    assert first_of_each(texts, threshold=0.9) == [0, 1, 2]


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "a b", "b"]), st.text(alphabet="ab1 .", max_size=12)), max_size=8),
    st.floats(0.0, 1.0),
)
def test_the_best_of_each_kind_stays_and_the_order_too(texts: list[tuple[str, str]], threshold: float) -> None:
    kept = first_of_each([piece(*text) for text in texts], threshold=threshold)
    assert kept == sorted(set(kept))
    assert not texts or kept[0] == 0


@given(st.lists(st.lists(st.sampled_from(["one", "2", "two", "33", "."]), max_size=14), max_size=8))
def test_no_number_is_lost(texts: list[list[str]]) -> None:
    bodies = [" ".join(words) for words in texts]
    kept = " ".join(bodies[position] for position in first_of_each(said(*bodies), threshold=0.0)).split()
    assert {word for body in bodies for word in body.split() if word.isdigit()} == {w for w in kept if w.isdigit()}
