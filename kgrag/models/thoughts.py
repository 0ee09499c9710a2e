"""What a model thinks aloud before it answers, where the endpoint does not take it out."""

from __future__ import annotations

import re

__all__ = ["without_thoughts"]

NAME = r"(?:think|thinking|thoughts?|reasoning)"
MARK = re.compile(
    rf"(?P<begin>^[ \t]*(?:<{NAME}>|\[{NAME}\]|◁{NAME}▷))"
    rf"|(?P<first>^[ \t]*)?(?P<end></{NAME}>|\[/{NAME}\]|◁/{NAME}▷)(?P<last>[ \t]*$)?",
    re.IGNORECASE | re.MULTILINE,
)
"""Of DeepSeek, Qwen and those that learnt from them; of Magistral; of Kimi. A beginning stands at the beginning of a line: what a reply
says about such marks is no thought."""
CHANNEL = re.compile(r"<\|channel\|>\s*(\w+).{0,200}?<\|message\|>", re.DOTALL)
FINAL_CHANNEL = "final"
CHANNEL_END = re.compile(r"<\|(?:end|return|start)\|>")
"""OpenAI's harmony, in which gpt-oss writes."""


def without_thoughts(text: str) -> str:
    """Return what a reply says beside its thoughts; nothing where it only thinks, because it was cut off before the answer.

    Where thoughts have an end alone, at the beginning or end of a line, all before it is thought: the templates of some models put the
    beginning into the prompt.
    """
    if text.lstrip().startswith(("<|channel|>", "<|start|>")) and CHANNEL.search(text):
        return _final_channel(text)
    said, position, thinking = list[str](), 0, False
    for mark in MARK.finditer(text):
        if mark["begin"] is not None:
            if not thinking:
                said.append(text[position : mark.start()])
            thinking = True
        elif thinking or (not said and (mark["first"] is not None or mark["last"] is not None)):
            position, thinking = mark.end(), False
            said.append("")
    if not said:
        return text
    return "".join([*said, "" if thinking else text[position:]]).strip()


def _final_channel(text: str) -> str:
    finals = [channel for channel in CHANNEL.finditer(text) if channel[1] == FINAL_CHANNEL]
    return CHANNEL_END.split(text[finals[-1].end() :], maxsplit=1)[0].strip() if finals else ""
