"""What is known of a text's words is what its plain definitions say, however it is found."""

from itertools import pairwise

from hypothesis import example, given
from hypothesis import strategies as st

from kgrag.retrieve.texts import ReadText
from kgrag.text.sentences import sentences
from kgrag.text.words import FUNCTION_WORDS, content_terms, stem, stems

WORDS = ("The", "3", "3.5", "3,5", "x-100", "Meters", "meter's", "o'clock", "ŉ", "メモリ", "Straße")
PIECES = (*WORDS, ".", ". ", "; ", "\n", "\n- ", "| ", " ")
TEXTS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=24).map("".join))


def maximal(sets: list[frozenset[str]]) -> set[frozenset[str]]:
    return {one for one in sets if one and not any(one < other for other in sets)}


@given(TEXTS, TEXTS)
@example("A range of 3.5 m.", "range 3")
@example("| Part | Range |\n| --- | --- |\n| X-100 | 3 m |", "range of the X-100")
@example("Range 3 m, supply 5 V. It has a fan.", "supply range fan")
def test_words_that_stand_together_are_those_of_the_sentences(text: str, question: str) -> None:
    asked = content_terms(question)
    together = [asked & content_terms(sentence.text) for sentence in sentences(text)]
    assert maximal(ReadText(text).said_together(asked)) == maximal(together)


@given(TEXTS, TEXTS)
def test_stems_and_pairs_are_those_of_the_content_words_in_order(text: str, question: str) -> None:
    row = [stemmed for folded, stemmed in stems(text) if folded not in FUNCTION_WORDS]
    read = ReadText(text)
    assert read.stems == row and read.terms == content_terms(text)
    asked = frozenset(pairwise(stem(word) for word in question.split()))
    assert read.count_pairs(asked) == len(asked & set(pairwise(row)))
