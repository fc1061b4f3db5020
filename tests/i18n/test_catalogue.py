"""Both languages say the same things, and every word that a page or a script asks for is there."""

import json
import re
import string
from pathlib import Path

import pytest

from feedmill import html, i18n
from feedmill.i18n.catalogue import catalogue, language_names
from feedmill.i18n.translator import translator
from feedmill.serve import web
from feedmill.serve.web.core.keymap import KEY_SECTIONS
from tests.i18n.message_codes import made_messages

LOCALES = Path(i18n.__file__).parent / "locales"
WEB = Path(web.__file__).parent
HTML = Path(html.__file__).parent
TEMPLATES = sorted(WEB.glob("*/templates/**/*.html"))
SCRIPTS = sorted((WEB / "static" / "js").glob("*.js"))
CODE = sorted([*WEB.rglob("*.py"), *LOCALES.parent.glob("*.py"), *HTML.glob("*.py")])

_IN_TEMPLATE = re.compile(r"""\bt\(\s*["']([a-z_]+\.\w+)["']\s*(?=[,)])""")
_WITHOUT_VALUES = re.compile(r"""\bt\(\s*["']([a-z_]+\.\w+)["']\s*\)""")
_BEGINNING = re.compile(r"""\bt\(\s*["']([a-z_]+\.\w*)["']\s*[~%]""")
_IN_CODE = re.compile(r"""["']([a-z_]+\.[a-z_0-9]+)["']""")
_BEGINNING_IN_CODE = re.compile(r"""\bf["']([a-z_]+\.\w+_)\{""")
_IN_SCRIPT = re.compile(r"""\bt\("(\w+)\"""")


def test_every_language_has_the_same_keys() -> None:
    ours = [catalogue(language).keys() for language in language_names()]

    assert all(keys == ours[0] for keys in ours)


@pytest.mark.parametrize("language", language_names())
def test_the_values_of_a_sentence_are_the_same_in_every_language(language: str) -> None:
    for key, sentence in catalogue("en").items():
        assert _values(sentence) == _values(catalogue(language)[key]), key


def test_every_word_of_a_template_is_in_the_catalogue() -> None:
    known = catalogue("en")
    texts = [(path.name, path.read_text()) for path in TEMPLATES]

    missing = [(name, key) for name, text in texts for key in _IN_TEMPLATE.findall(text) if key not in known]
    starts = [(name, start) for name, text in texts for start in _BEGINNING.findall(text)]
    nowhere = [(name, start) for name, start in starts if not any(key.startswith(start) for key in known)]

    assert (missing, nowhere) == ([], [])


def test_no_template_leaves_out_the_values_of_a_sentence() -> None:
    known = catalogue("en")

    missing = [
        (path.name, code)
        for path in TEMPLATES
        for code in _WITHOUT_VALUES.findall(path.read_text())
        # A table of plural forms has braces too, and needs its number.
        if "{" in str(known.get(code, ""))
    ]

    assert missing == []


def test_every_word_of_the_scripts_is_in_their_part() -> None:
    used = {key for path in SCRIPTS for key in _IN_SCRIPT.findall(path.read_text())}

    assert used == set(translator("en").part("script"))


def test_every_key_of_the_keyboard_has_its_words() -> None:
    asked = {f"keymap.{section}" for section, _ in KEY_SECTIONS} | {
        f"keymap.do_{name}" for _, keys in KEY_SECTIONS for name, _ in keys
    }

    assert asked <= catalogue("en").keys()


def test_no_word_is_there_that_nobody_uses() -> None:
    """Those that are put together from parts are named by what they begin with."""
    text = "\n".join(path.read_text() for path in [*TEMPLATES, *CODE])
    used = set(_IN_CODE.findall(text))
    made = (
        "keymap.",
        "script.",
        "problem.",
        "list.empty_",
        "list.show_",
        "list.order_",
        "frame.",
        "setup.bad_",
        "time.",
    )
    begun = (*made, *_BEGINNING.findall(text), *_BEGINNING_IN_CODE.findall(text))
    messages = {code for code in catalogue("en") if any(made.makes(code) for made in made_messages())}
    densities = {"list.titles", "list.compact", "list.cards", "list.full"}

    assert {
        key for key in catalogue("en") if key not in used | densities | messages and not key.startswith(begun)
    } == set()


@pytest.mark.parametrize("language", language_names())
def test_catalogues_are_one_sentence_a_key_in_json(language: str) -> None:
    for file in (LOCALES / language).iterdir():
        pairs = json.loads(file.read_text(), object_pairs_hook=list)
        assert len(pairs) == len(dict(pairs)), file


def test_numbers_choose_their_form() -> None:
    assert translator("en")("list.marked_all", n=1) == "One item marked as read."
    assert translator("en")("list.marked_all", n=1234) == "1,234 items marked as read."
    assert translator("zh_CN")("list.marked_all", n=1) == "已将 1 篇标为已读。"


def _values(sentence: str | dict[str, str]) -> set[str]:
    forms = sentence.values() if isinstance(sentence, dict) else [sentence]
    return {name for form in forms for _, name, _, _ in string.Formatter().parse(form) if name} - {"n"}
