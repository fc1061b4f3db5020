"""Loads the texts of each language: one folder in `locales/` with JSON files, whose keys are message codes.

The code `fetch.timeout` is the key `timeout` of `fetch.json`. A text is a sentence, or a table of plural forms by
CLDR category, chosen by the parameter `n`. `{name}` stands for a parameter. What a language lacks is English.
`language.json` names the language for people, for HTML, and for Babel.
"""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DEFAULT_LANGUAGE = "en"
_ABOUT = "language"
# Not by importlib.resources: every command would pay for what that imports.
LOCALES = Path(__file__).parent / "locales"

Text = str | dict[str, str]


@cache
def language_names() -> Mapping[str, str]:
    """Every language that has a folder, with its own name for itself; English first."""
    found = sorted(folder.name for folder in LOCALES.iterdir() if (folder / f"{_ABOUT}.json").is_file())
    found.sort(key=lambda language: language != DEFAULT_LANGUAGE)
    return {language: about_language(language)["name"] for language in found}


def about_language(language: str) -> Mapping[str, str]:
    """`name` for people, `tag` for HTML, `locale` for Babel."""
    return {key: text for key, text in area_texts(language, _ABOUT).items() if isinstance(text, str)}


@cache
def area_texts(language: str, area: str) -> Mapping[str, Text]:
    """The texts of one file under their keys; none when the language lacks the file."""
    file = LOCALES / language / f"{area}.json"
    texts: dict[str, Text] = json.loads(file.read_text("utf-8")) if file.is_file() else {}
    return texts


def find_text(language: str, code: str) -> Text | None:
    """The text of a code, in English where the language lacks it; None if the code is unknown."""
    area, _, key = code.partition(".")
    if not area.isidentifier():
        return None
    found = area_texts(language, area).get(key)
    if found is None and language != DEFAULT_LANGUAGE:
        return area_texts(DEFAULT_LANGUAGE, area).get(key)
    return found


@cache
def catalogue(language: str) -> Mapping[str, Text]:
    """Every text that a language has itself, under its code."""
    areas = sorted(file.name.removesuffix(".json") for file in (LOCALES / language).iterdir())
    return {
        f"{area}.{key}": text for area in areas if area != _ABOUT for key, text in area_texts(language, area).items()
    }
