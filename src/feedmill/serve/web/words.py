"""What the pages say, in each language: `t("list.more")` is the key `more` of `i18n/<language>/list.json`.

A value is a sentence, or a table of plural forms chosen by `n`. `{name}` stands for a value; `{n}` is written with
the separators of the language. `told.json` is apart: its keys are the English sentences of the inner folders.
"""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES: Mapping[str, str] = {"en": "English", "zh_CN": "简体中文"}
DEFAULT = "en"

Sentence = str | dict[str, str]


@cache
def catalogue(language: str) -> dict[str, Sentence]:
    """Every sentence of a language under `file.key`."""
    folder = files("feedmill.serve.web") / "i18n" / language
    return {
        f"{file.name.removesuffix('.json')}.{key}": sentence
        for file in folder.iterdir()
        if file.name.endswith(".json")
        for key, sentence in json.loads(file.read_text("utf-8")).items()
    }


def plural(language: str, n: float) -> str:
    """Which form a number takes; Chinese has one."""
    return "one" if language == "en" and n == 1 else "other"


class Words:
    """The words of one language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.tag = language.replace("_CN", "-Hans")
        self._sentences = catalogue(language)

    def __call__(self, key: str, n: float | None = None, **values: object) -> str:
        sentence = self._sentences[key]
        if isinstance(sentence, dict):
            sentence = sentence[plural(self.language, n or 0)]
        if n is not None:
            values["n"] = self.number(n)
        return sentence.format(**values) if values else sentence

    def told(self, template: str) -> str:
        """A template of our own sentences, which are keys by themselves; the English one where there is no other."""
        told = self._sentences.get(f"told.{template}", template)
        return told if isinstance(told, str) else template

    def number(self, n: float) -> str:
        return f"{n:,}"

    def part(self, area: str) -> dict[str, Sentence]:
        """All sentences of one file, for scripts."""
        prefix = f"{area}."
        return {key.removeprefix(prefix): text for key, text in self._sentences.items() if key.startswith(prefix)}


@cache
def words(language: str) -> Words:
    return Words(language)


def best_language(accepted: str) -> str:
    """The language of ours that a browser's Accept-Language likes most."""
    for wish in sorted(accepted.split(","), key=_weight, reverse=True):
        tag = wish.partition(";")[0].strip().lower()
        if tag.startswith("zh"):
            return "zh_CN"
        if tag.startswith("en"):
            return "en"
    return DEFAULT


def _weight(wish: str) -> float:
    quality = wish.partition("q=")[2].strip()
    try:
        return float(quality) if quality else 1.0
    except ValueError:
        return 0.0
