"""Sentences of a document that are meant for a program which reads it, and say nothing about its subject."""

from __future__ import annotations

import re

__all__ = ["is_planted_instruction"]

_BEFORE = r"(?:previous|prior|above|earlier|preceding|foregoing|former|system|developer|your|these)"
_SAID = r"(?:instructions?|prompts?|rules|directions|context|messages?|guidelines)"
PLANTED = re.compile(
    rf"\b(?:ignore|disregard|forget|override|bypass) (?:(?:all|any|every|of|the|everything|and) )*(?:{_BEFORE} )+(?:\w+ )?{_SAID}\b"
    rf"|\b(?:ignore|disregard|forget) (?:(?:all|any|the) )*{_SAID} (?:above|before|that came before|given)\b"
    r"|\byou are (?:now )?an? (?:\w+ ){0,2}(?:ai|assistant|language model|llm|chatbot)\b"
    r"|\b(?:reveal|print|repeat|output|show) (?:the|your) (?:system prompt|hidden instructions|initial instructions)\b",
    re.IGNORECASE,
)


def is_planted_instruction(text: str) -> bool:
    """Whether a text tells a language model to do something else than it was asked for: `Ignore all previous instructions and ...`."""
    return PLANTED.search(text) is not None
