"""The Chinese texts have one word for one thing, and the punctuation and spacing that Chinese readers expect."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from feedmill.i18n.catalogue import LOCALES, catalogue

ROOT = Path(__file__).parents[2]
WORD_LIST = ROOT / "docs" / "contributing" / "add-a-language.md"
README = ROOT / "README.zh-CN.md"
IDEOGRAPH = r"[\u4e00-\u9fff]"
WRONG_MARKS = {
    "half-width punctuation after Chinese": rf"{IDEOGRAPH}[,;:!?()]",
    "a space beside full-width punctuation": r"[，。：；、（）“”] | [，。：；、（）”]",
    "three points": r"\.\.\.",
    "no space between Chinese and Latin": rf"{IDEOGRAPH}[A-Za-z0-9]|[A-Za-z0-9]{IDEOGRAPH}",
    "no space between Chinese and a number": rf"{IDEOGRAPH}\{{n\}}|\{{n\}}{IDEOGRAPH}",
    "a space inside Chinese": rf"{IDEOGRAPH} {IDEOGRAPH}",
}
# Examples of what a user types, the weekdays that a template splits, and a list of words.
FREE_OF_MARKS = {"feed.rules_hint", "subscribe.bad_rule", "health.weekdays"}


def test_no_chinese_text_has_a_word_that_the_word_list_replaces() -> None:
    right, wrong = words_of_the_list()
    texts = {**dict(chinese_texts()), README.name: README.read_text()}

    found = {
        (code, word)
        for code, text in texts.items()
        for word in wrong
        # What is right is taken out first: 订阅源 does not count as 订阅.
        if word in text and word in without(right, text)
    }

    assert found == set()


def test_the_word_list_has_words_to_look_for() -> None:
    right, wrong = words_of_the_list()

    assert {"你", "订阅源", "存档", "账号"} <= set(right)
    assert {"您", "归档", "账户"} <= set(wrong)
    assert without(right, "此订阅源") != "此订阅源"


def test_every_chinese_text_has_full_width_punctuation_and_the_same_spacing() -> None:
    found = [
        (code, what, text)
        for code, text in chinese_texts()
        if code not in FREE_OF_MARKS
        for what, pattern in WRONG_MARKS.items()
        if re.search(pattern, text)
    ]

    assert found == []


def test_english_and_chinese_have_the_same_files() -> None:
    assert names_in("zh_CN") == names_in("en")


def words_of_the_list() -> tuple[list[str], list[str]]:
    """The words of the second and of the third column; the longest first."""
    rows = [line.split("|")[2:4] for line in WORD_LIST.read_text().splitlines() if line.startswith("| ")][1:]
    right, wrong = ([word for row in rows for word in re.split("[、，]", row[n].strip())] for n in (0, 1))
    return sorted(filter(None, right), key=len, reverse=True), sorted(filter(None, wrong))


def without(words: list[str], text: str) -> str:
    for word in words:
        text = text.replace(word, "\0")
    return text


def chinese_texts() -> Iterator[tuple[str, str]]:
    for code, text in catalogue("zh_CN").items():
        forms: Mapping[str, str] = text if isinstance(text, dict) else {"other": text}
        yield from ((code, form) for form in forms.values())


def names_in(language: str) -> set[str]:
    return {file.name for file in (LOCALES / language).iterdir()}
