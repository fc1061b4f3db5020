"""Loads the message catalogue of each language and formats messages with plurals.

A value is a sentence, or a table of plural forms chosen by `n`. `{name}` stands for a value; `{n}` is written with
the separators of the language. `told.json` is apart: its keys are the English sentences of the inner folders.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES: Mapping[str, str] = {"en": "English", "zh_CN": "简体中文"}
DEFAULT_LANGUAGE = "en"

Message = str | dict[str, str]


@cache
def catalogue(language: str) -> dict[str, Message]:
    """Every sentence of a language under `file.key`."""
    folder = files("feedmill.i18n") / "locales" / language
    return {
        f"{file.name.removesuffix('.json')}.{key}": sentence
        for file in folder.iterdir()
        if file.name.endswith(".json")
        for key, sentence in json.loads(file.read_text("utf-8")).items()
    }


@cache
def messages_of(language: str, area: str) -> dict[str, Message]:
    """The messages of one file under their keys; cached, because every page carries those of its scripts."""
    prefix = f"{area}."
    return {key.removeprefix(prefix): text for key, text in catalogue(language).items() if key.startswith(prefix)}


def plural_form(language: str, n: float) -> str:
    """Which form a number takes; Chinese has one."""
    return "one" if language == "en" and n == 1 else "other"


class Translator:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = language.replace("_CN", "-Hans")
        self._sentences = catalogue(language)

    def __call__(self, key: str, n: float | None = None, **values: object) -> str:
        sentence = self._sentences[key]
        if isinstance(sentence, dict):
            sentence = sentence[plural_form(self.language, n or 0)]
        if n is not None:
            values["n"] = self.number(n)
        return sentence.format(**values) if values else sentence

    def told(self, template: str) -> str:
        """A template of our own sentences, which are keys by themselves; the English one where there is no other."""
        told = self._sentences.get(f"told.{template}", template)
        return told if isinstance(told, str) else template

    def number(self, n: float) -> str:
        return f"{n:,}"

    def part(self, area: str) -> dict[str, Message]:
        """All sentences of one file, for scripts."""
        return messages_of(self.language, area)


@cache
def translator(language: str) -> Translator:
    return Translator(language)


def best_language(accepted: str) -> str:
    """The language of ours that a browser's Accept-Language likes most."""
    for wish in sorted(accepted.split(","), key=_quality, reverse=True):
        tag = wish.partition(";")[0].strip().lower()
        if tag.startswith("zh"):
            return "zh_CN"
        if tag.startswith("en"):
            return "en"
    return DEFAULT_LANGUAGE


def _quality(wish: str) -> float:
    quality = wish.partition("q=")[2].strip()
    try:
        return float(quality) if quality else 1.0
    except ValueError:
        return 0.0
