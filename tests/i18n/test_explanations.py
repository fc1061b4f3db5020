"""What the inner folders say in English reaches a Chinese page in Chinese."""

import ast
import re
import string
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import feedmill
from feedmill.collect.scheduling.cadence import (
    CadenceSettings,
    PollingHints,
    PublishingPattern,
    after_failure,
    after_success,
)
from feedmill.i18n.catalogue import catalogue
from feedmill.i18n.dates import DateFormatter
from feedmill.i18n.explanations import render_explanation, sentence_key
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import translator

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
SOURCE = Path(feedmill.__file__).parent
TOLD = {key.removeprefix("told."): text for key, text in catalogue("zh_CN").items() if key.startswith("told.")}

# Whatever these are made with may be shown on a page as it is.
SAYS = {
    "BadAddress",
    "BadCsrfToken",
    "BadInput",
    "Conflict",
    "Missed",
    "NoFeed",
    "NoFullText",
    "NotAllowed",
    "NotFound",
    "Rejected",
    "Retryable",
    "Schedule",
    "StillPending",
    "Stumbled",
    "TooMany",
    "Undelivered",
    "Unread",
    "UrlTaken",
}
WHYS = {"why", "next_fetch_why", "WHY", "WOKEN", "LEFT_ALONE"}
# The API and the commands alone say these, or the page has words of its own for them.
ELSEWHERE = ("cli", "client", "serve/rest", "store/drivers", "pools")
OWN_WORDS = {
    "A name has 1 to {} letters, digits or . _ - @ +",
    "A password has {} to {} characters.",
    "wait {} s.",
    "The current password is wrong.",
    "Too many tries to sign in",
    "sign in first",
    "there is a label {} already",
}
# What stands at the beginning or the end of these is one of a few words, and the whole is told.
BEGUN = {
    "{}, and no feed was found on it",
    "{}; the setting allow_private says which of those may be fetched",
    "you may have at most {} {}",
}


def test_every_sentence_that_reaches_a_page_is_told_in_chinese() -> None:
    said = {(path, part) for path, sentence in _said() for part in _parts(sentence)}

    assert {(path, part) for path, part in said if not _is_told(part)} == set()


def test_every_reason_of_the_schedule_is_told_in_chinese() -> None:
    habits = [PublishingPattern(gap, NOW) for gap in (HOUR, None, 0 * HOUR, 30 * HOUR)] + [
        PublishingPattern(HOUR, NOW - 999 * HOUR)
    ]
    reasons = [after_success(NOW, habit, None, PollingHints(), CadenceSettings(), 0).why for habit in habits]
    reasons += [
        after_success(NOW, habits[0], None, PollingHints(5 * HOUR, "ttl", frozenset({13})), CadenceSettings(), 0).why
    ]
    reasons += [
        after_success(NOW, habits[0], length, PollingHints(), CadenceSettings(), 0).why for length in (HOUR, HOUR / 60)
    ]
    reasons += [
        after_failure(NOW, times, Message("fetch.no_connection", detail="(111)"), CadenceSettings(), 0).why
        for times in (1, 5, 12)
    ]

    told = [_in_chinese(reason) for reason in reasons]

    assert [sentence for sentence in told if re.search(r"[a-z]{2}", sentence.replace("ttl", ""))] == []
    assert told[0] == "每30分钟一次，因为它每天大约发布 24 篇"


def test_a_translation_has_the_values_of_its_sentence() -> None:
    for english, chinese in TOLD.items():
        assert isinstance(chinese, str)
        assert _fields(chinese) == _fields(english), english


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("127.0.0.1 is a private or special address", "127.0.0.1 是私有或特殊地址"),
        ("line 7: “Six o'clock” has no feed address.", "第 7 行：“Six o'clock” 没有订阅源地址。"),
        ("https://example.org/: not a feed: it looks like html", "https://example.org/：不是订阅源：看起来是网页"),
        ("whatever nobody thought of", "whatever nobody thought of"),
    ],
)
def test_figures_addresses_and_names_stay_what_they_are(english: str, chinese: str) -> None:
    assert _in_chinese(english) == chinese


def _in_chinese(sentence: Message | str) -> str:
    t = translator("zh_CN")
    return render_explanation(sentence, t, DateFormatter(t, UTC, NOW))


def _said() -> Iterator[tuple[str, str]]:
    for file in sorted(SOURCE.rglob("*.py")):
        path = file.relative_to(SOURCE).as_posix()
        if not path.startswith(ELSEWHERE):
            for node in ast.walk(ast.parse(file.read_text())):
                yield from ((path, text) for text in map(_text, _sayings(node)) if " " in text)


def _sayings(node: ast.AST) -> list[ast.expr]:
    """What of a piece of code may be said to a person."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=args) if name in SAYS:
            return args
        case ast.Call(func=ast.Name(id="_wake" | "_due" | "stop_feed"), args=args):
            return args
        case ast.Dict(keys=keys, values=values):
            return [value for key, value in zip(keys, values, strict=True) if _text(key) in WHYS]
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in WHYS:
            return [value]
    return []


def _text(node: ast.expr | None) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) if isinstance(part, ast.Constant) else "{}" for part in parts)
    return ""


def _parts(sentence: str) -> list[str]:
    """As `tell` takes a sentence: whole, else what stands between its colons."""
    return [sentence] if sentence_key(sentence) in TOLD else [part for part in sentence.split(": ") if " " in part]


def _is_told(part: str) -> bool:
    key = sentence_key(part)
    return key in TOLD or part in TOLD or part in OWN_WORDS | BEGUN or not _letters(part)


def _letters(part: str) -> bool:
    """Whether there are words in it besides what is the same everywhere."""
    return bool(re.search(r"[a-z]{3}", re.sub(r"\{[^}]*\}|HTTP", "", part)))


def _fields(text: str) -> list[str]:
    """The values of a sentence; those without a name may change places."""
    fields = [(name, form) for _, name, form, _ in string.Formatter().parse(text) if name is not None]
    return sorted("" if not name or name.isdigit() else f"{name}:{form}" for name, form in fields)
