"""Which language a text is in (py3langid: a naive Bayes model over byte n-grams of 97 languages, made for short texts)."""

from __future__ import annotations

__all__ = ["language"]

NAMES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish",
    "fr": "French", "hi": "Hindi", "hu": "Hungarian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
MAX_CHARACTERS = 4000
"""Of a text that are looked at."""


def language(text: str) -> str:
    """Return the English name of a text's language, or its ISO 639-1 code. The first call loads the model: 0.3 s."""
    import py3langid

    code, _ = py3langid.classify(text[:MAX_CHARACTERS])
    return NAMES.get(str(code), str(code))
