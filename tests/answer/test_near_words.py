from kgrag.answer.candidates import candidates
from kgrag.answer.near_words import asked_in_context, near_coverage, rare_words, reader_of
from kgrag.models.minilm import MiniLM
from kgrag.testing import HashingEmbedder
from kgrag.text.questions import read_question
from kgrag.types import Evidence

TEXT = "The daemon halts after a fatal fault.\n\nThe colour of the lid is grey."
EVIDENCE = [
    Evidence(
        chunk_id="1", source_id="1", document="manual.pdf", document_id="", title="Manual", section="", text=TEXT, tokens=20,
        score=1.0, why=(),
    )
]  # fmt: skip


def test_a_word_is_said_in_part_by_one_that_means_the_same_and_a_name_only_by_itself() -> None:
    asked = read_question("Does the X-100 stop after an error?")
    found = candidates(asked, EVIDENCE)
    covered = dict(zip([one.text for one in found], near_coverage(asked, found, EVIDENCE, MiniLM()), strict=True))
    halts, lid = covered["The daemon halts after a fatal fault."], covered["The colour of the lid is grey."]
    assert 0.3 < halts["error"] < 1.0 > lid["error"] + 0.3
    assert halts["stop"] > lid["stop"]
    assert halts["x"] == halts["100"] == 0.0


def test_words_say_only_themselves_where_no_model_reads_them() -> None:
    asked = read_question("Does it stop after an error?")
    found = candidates(asked, EVIDENCE)
    assert near_coverage(asked, found, EVIDENCE, None) == [one.covered for one in found]
    assert asked_in_context(asked, asked.terms, found[0], EVIDENCE, None) == found[0].coverage


def test_what_any_text_may_say_weighs_less() -> None:
    asked = read_question("Which oscillator does it start first?")
    weights = rare_words(asked, dict.fromkeys(asked.terms, 1.0), MiniLM())
    assert (
        weights["first"] < weights["start"] < weights["oscil"] <= 1.0 if "first" in weights else weights["start"] < 1.0
    )


def test_the_statement_that_says_it_in_other_words_is_nearer_in_context() -> None:
    asked = read_question("What does the service do after an error?")
    found = candidates(asked, EVIDENCE)
    near = {one.text[:10]: asked_in_context(asked, asked.terms, one, EVIDENCE, MiniLM()) for one in found}
    assert near["The daemon"] > near["The colour"] + 0.1


def test_another_embedder_leaves_words_to_minilm() -> None:
    assert isinstance(reader_of(HashingEmbedder()), MiniLM)
