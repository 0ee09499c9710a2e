import asyncio

import numpy as np
import pytest

from kgrag.errors import ModelError, ModelReplyError
from kgrag.models.base import ChatModel, Embedder, Message, Reranker
from kgrag.testing import HashingEmbedder, ScriptedChatModel, ScriptedReranker

ASKED = [Message("user", "What is the answer?")]


def test_the_scripted_models_keep_the_contracts() -> None:
    assert isinstance(ScriptedChatModel([]), ChatModel)
    assert isinstance(HashingEmbedder(), Embedder)
    assert isinstance(ScriptedReranker(lambda query, passage: 0.0), Reranker)


def test_replies_come_in_order_and_exceptions_are_raised() -> None:
    model = ScriptedChatModel(["first", ModelError("away"), '{"answer": 42}', "no json"])
    assert asyncio.run(model.reply(ASKED)).text == "first"
    with pytest.raises(ModelError, match="away"):
        asyncio.run(model.reply(ASKED))
    assert asyncio.run(model.reply(ASKED, schema={"type": "object"})).data == {"answer": 42}
    with pytest.raises(ModelReplyError, match="no json"):
        asyncio.run(model.reply(ASKED, schema={"type": "object"}))
    with pytest.raises(ModelReplyError, match="one more"):
        asyncio.run(model.reply(ASKED))
    assert len(model.calls) == 5


def test_texts_that_share_words_are_near() -> None:
    near, same, far = asyncio.run(HashingEmbedder().embed_documents(["the red board", "the red boards", "Zürich 1648"]))
    assert near @ same > near @ far
    assert np.isclose(near @ near, 1.0)
