import asyncio

import numpy as np
import pytest

from kgrag.models.base import Reranker
from kgrag.models.cross_encoder import PAIR_TOKENS, MiniLMCrossEncoder

QUESTION = "How long does it wait before it gives up on a host that does not respond?"
ANSWER = "pumpd: deadline: Seconds after which a silent peer is dropped. Default: 45."
OTHERS = (
    "pumpd: The host name that is sent to each peer may be changed in the configuration.",
    "pumpd: Hosts that respond are listed in the log, with the time of the last answer.",
    "pumpd: wait-for-network: Whether the daemon starts before an interface is up.",
)


@pytest.fixture(scope="module")
def reader() -> MiniLMCrossEncoder:
    return MiniLMCrossEncoder()


def test_it_is_a_reranker_that_puts_an_answer_in_other_words_before_what_shares_words(
    reader: MiniLMCrossEncoder,
) -> None:
    assert isinstance(reader, Reranker)
    scores = asyncio.run(reader.score(QUESTION, [*OTHERS, ANSWER]))
    assert scores.shape == (4,)
    assert scores.argmax() == 3
    assert scores[3] > scores[:3].max() + 1.0


def test_a_score_does_not_depend_on_what_is_read_beside_it(reader: MiniLMCrossEncoder) -> None:
    texts = [ANSWER, "", OTHERS[0], ANSWER * 20]
    together = reader.logits(QUESTION, texts)
    alone = np.concatenate([reader.logits(QUESTION, [text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-4)


def test_what_is_beyond_the_window_is_not_read_and_a_long_question_leaves_room(reader: MiniLMCrossEncoder) -> None:
    assert np.array_equal(*(reader.logits(QUESTION, [ANSWER + " pump" * count]) for count in (PAIR_TOKENS, 1000)))
    question = "word " * 500
    first, second = reader.logits(question, [ANSWER, OTHERS[0]])
    assert np.isfinite([first, second]).all() and first != second


def test_no_texts_have_no_scores(reader: MiniLMCrossEncoder) -> None:
    assert reader.logits(QUESTION, []).shape == (0,)
