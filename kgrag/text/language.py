"""Which language a text is in (py3langid: a naive Bayes model over byte n-grams of 97 languages, made for short texts)."""

from __future__ import annotations

__all__ = ["is_clearly_not_in", "language"]

NAMES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fi": "Finnish",
    "fr": "French", "hi": "Hindi", "hu": "Hungarian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "no": "Norwegian",
    "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip
MAX_CHARACTERS = 4000
"""Of a text that are looked at."""
CLEARLY = 10.0
"""How much larger the logarithm of one language's likelihood is: names alone make little of it, a sentence makes more."""


def language(text: str) -> str:
    """Return the English name of a text's language, or its ISO 639-1 code. The first call loads the model: 0.3 s."""
    import py3langid

    code, _ = py3langid.classify(text[:MAX_CHARACTERS])
    return NAMES.get(str(code), str(code))


def is_clearly_not_in(text: str, spoken: str) -> bool:
    """Say whether a text is in another language than `spoken`, as `language` names it: not where names alone make it look like that."""
    import py3langid

    likelihood = {NAMES.get(code, code): value for code, value in py3langid.rank(text[:MAX_CHARACTERS])}
    return bool(max(likelihood.values()) - likelihood[spoken] > CLEARLY)
