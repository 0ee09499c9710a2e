from hypothesis import given
from hypothesis import strategies as st

from kgrag.retrieve.near_duplicates import first_of_each

REPEATED = "The radio module supports Bluetooth and has a range of about ten meters in the open field"


def test_a_copy_with_another_product_name_is_left_out() -> None:
    texts = [f"X-Lite {REPEATED}", "Something else", f"X-Pro {REPEATED}"]
    assert first_of_each(texts, threshold=0.8) == [0, 1]


def test_a_copy_with_another_number_is_kept() -> None:
    texts = [f"{REPEATED} at 3.3 V", f"{REPEATED} at 33 V", f"{REPEATED} at 3.3 V"]
    assert first_of_each(texts, threshold=0.8) == [0, 1]


def test_copies_about_different_subjects_of_the_question_are_kept() -> None:
    subjects = [frozenset({"lite"}), frozenset({"pro"}), frozenset({"pro"})]
    assert first_of_each([REPEATED, REPEATED, REPEATED], threshold=0.8, subjects=subjects) == [0, 1]


def test_the_greatest_threshold_leaves_out_texts_of_the_same_words_only() -> None:
    assert first_of_each([REPEATED, f"{REPEATED} indeed", REPEATED.upper()], threshold=1.0) == [0, 1]


@given(st.lists(st.text(alphabet="ab1 .", max_size=12), max_size=8), st.floats(0.0, 1.0))
def test_the_best_of_each_kind_stays_and_the_order_too(texts: list[str], threshold: float) -> None:
    kept = first_of_each(texts, threshold=threshold)
    assert kept == sorted(set(kept))
    assert not texts or kept[0] == 0
