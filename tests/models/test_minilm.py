import asyncio
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.models import open_embedder
from kgrag.models.base import Embedder, share_read
from kgrag.models.minilm import MiniLM, MiniLMInt8
from kgrag.models.minilm_graph import tokenizer
from kgrag.models.wrapped import WrappedEmbedder


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def test_it_is_an_embedder(minilm: MiniLM) -> None:
    assert isinstance(minilm, Embedder)
    assert isinstance(open_embedder("minilm"), MiniLM)


def test_similarities_are_those_that_the_model_card_of_sentence_transformers_prints(minilm: MiniLM) -> None:
    vectors = minilm.embed(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    published = [[1.0, 0.6660, 0.1046], [0.6660, 1.0, 0.1411], [0.1046, 0.1411, 1.0]]
    assert np.allclose(vectors @ vectors.T, published, atol=2e-4)


def test_a_vector_does_not_depend_on_what_it_is_batched_with(minilm: MiniLM) -> None:
    texts = ["supply voltage 3.3 V", "", "I2C " * 40, "a much longer sentence about the pressure range of the sensor"]
    together = minilm.embed(texts)
    minilm.forget()
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-5)


@pytest.mark.parametrize(
    ("text", "share"),
    [("größer als 3", 1.0), ("3.3", 1.0), ("насос", 0.0), ("USBメモリ", 0.5)],
    ids=["Latin", "no letter", "Cyrillic", "both"],
)
def test_it_was_trained_to_read_latin_letters(minilm: MiniLM, text: str, share: float) -> None:
    assert share_read(minilm, text) == share
    assert share_read(WrappedEmbedder(minilm), text) == share


def test_a_long_text_is_embedded_over_all_of_its_windows(minilm: MiniLM) -> None:
    opening, ending = "The board has a pressure sensor. " * 60, "Bananas are yellow fruit. " * 60
    whole, cut = minilm.embed([opening + ending, opening])
    bananas = minilm.embed(["Bananas are yellow fruit."])[0]
    assert minilm.count_tokens(opening) > minilm.max_tokens
    assert whole @ bananas > cut @ bananas + 0.2


@given(
    st.lists(
        st.one_of(
            st.text(),
            st.sampled_from(["supply", "[MASK]", "e\u0301", "\u6e29", "\x1c", "\u00a0", " ", "\r\n", "x" * 101]),
        )
    )
)
def test_the_tokens_of_a_text_are_those_of_its_words(parts: list[str]) -> None:
    text = "".join(parts)
    assert MiniLM().count_tokens(text) == len(tokenizer().encode(text, add_special_tokens=False).ids)


def test_every_token_has_a_vector_for_late_interaction(minilm: MiniLM) -> None:
    texts = ["pressure sensor", "word " * 600, ""]
    vectors = minilm.token_vectors(texts)
    assert [len(v) for v in vectors] == [minilm.count_tokens(text) for text in texts]
    assert np.allclose(np.linalg.norm(vectors[1], axis=1), 1.0, atol=1e-3)


def test_in_8_bit_integers_vectors_are_near_and_depend_on_no_other_text(minilm: MiniLM) -> None:
    int8 = open_embedder("minilm-int8")
    assert isinstance(int8, MiniLMInt8)
    texts = ["supply voltage 3.3 V", "a much longer sentence about the pressure range of the sensor", "I2C " * 40]
    together = int8.embed(texts)
    int8.forget()
    alone = np.concatenate([int8.embed([text]) for text in texts])
    assert np.array_equal(together, alone)
    assert ((together * minilm.embed(texts)).sum(axis=1) > 0.98).all()
    assert not np.array_equal(together, minilm.embed(texts))


def test_no_texts_give_an_empty_matrix(minilm: MiniLM) -> None:
    assert asyncio.run(minilm.embed_documents([])).shape == (0, 384)


def test_without_a_cache_folder_it_embeds_and_nothing_of_others_is_kept(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "kgrag").write_text("no folder")
    program = "from kgrag.models.minilm import MiniLM; print(len(MiniLM().embed(['pressure'])[0]))"
    homes = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | homes, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("384\n", "")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["cache", "kgrag"]


def test_single_words_are_known_without_a_run_of_the_model(minilm: MiniLM) -> None:
    halt, stop, table, nothing = minilm.word_vectors(["halt", "stop", "table", "no token of its own"])
    assert halt @ stop > halt @ table + 0.1
    assert not nothing.any() and np.isclose(np.linalg.norm(halt), 1.0, atol=1e-5)
    ranks = [minilm.word_rank(word) for word in ("the", "voltage", "no token of its own")]
    assert ranks[0] is not None and ranks[1] is not None and ranks[0] < ranks[1] and ranks[2] is None


def test_every_token_has_its_place_in_the_text(minilm: MiniLM) -> None:
    text = "Reconnects after 3.3 seconds"
    places = minilm.token_places(text)
    assert len(places) == len(minilm.token_vectors([text])[0])
    assert "".join(text[first:end] for first, end in places) == text.replace(" ", "")
