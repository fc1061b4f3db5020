"""Writes every text of a language with sample parameters, put together as the product puts them together."""

import re
import string
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from feedmill.i18n.catalogue import Text, catalogue
from feedmill.i18n.dates import DateFormatter
from feedmill.i18n.messages import Message
from feedmill.i18n.translator import translator
from feedmill.serve import web

NOW = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
LENGTH = timedelta(hours=4)
# By parameter the beginnings of the messages that it may be.
SENTENCES = {
    "why": ("schedule.",),
    "because": ("schedule.silent", "schedule.publishes_", "schedule.overflows", "schedule.failed"),
    "every": ("schedule.every", "schedule.once_a_day"),
    "what": ("fetch.", "not_a_feed.", "url."),
    "reason": ("fetch.", "not_a_feed.", "image."),
    "came_to": ("explain.not_modified", "explain.same_bytes", "explain.new_entries"),
    "ago": ("explain.ago", "explain.now"),
    "ahead": ("explain.ahead", "explain.now"),
}
# Where a parameter has other messages than elsewhere.
OTHER_SENTENCES = {
    ("job.own_failure", "reason"): ("job.storage_unavailable",),
    ("webhook.paused", "reason"): ("webhook.gone", "webhook.throttled", "fetch.timeout"),
}
MOST_DEPTH = 3
LENGTHS = {"length", "least", "gap", "interval", "age"}
TEXTS = {
    "name",
    "title",
    "host",
    "url",
    "text",
    "to",
    "file",
    "who",
    "field",
    "detail",
    "size",
    "day",
    "type",
    "time",
    "zone",
}
_IN_TEMPLATE = re.compile(r"""\bt\(\s*["'](?P<code>[a-z_]+\.\w+)["'](?P<rest>[^{}]*)""")
_MOMENT = re.compile(r"(\w+)=when\.(age|until|length|day|full)\(")


def every_text(language: str) -> Iterator[tuple[str, str]]:
    """Each code with its text, once for each message that may stand in it."""
    for code in catalogue(language):
        yield from ((code, text) for text in written(language, code))


@cache
def written(language: str, code: str, depth: int = 0) -> Sequence[str]:
    choices = {name: _choices(language, code, name, depth) for name in parameters(catalogue(language)[code])}
    t = translator(language)
    return [
        t.render(Message(code, **{name: those[turn % len(those)] for name, those in choices.items()}))
        for turn in range(max(map(len, choices.values()), default=1))
    ]


def parameters(text: Text) -> Mapping[str, str]:
    """The names with the form in which they are written."""
    forms = text.values() if isinstance(text, dict) else [text]
    return {name: form or "" for each in forms for _, name, form, _ in string.Formatter().parse(each) if name}


def _choices(language: str, code: str, name: str, depth: int) -> Sequence[Any]:
    method = moments_of_templates().get((code, name))
    if parameters(catalogue(language)[code])[name]:
        return [NOW]
    if method:
        return [_moment(language, method)]
    sentences = OTHER_SENTENCES.get((code, name), SENTENCES.get(name))
    if sentences and depth < MOST_DEPTH:
        return [
            text
            for other in catalogue(language)
            if other.startswith(sentences) and other != code
            for text in written(language, other, depth + 1)
        ]
    return [LENGTH] if name in LENGTHS else [f"<{name}>"] if name in TEXTS | SENTENCES.keys() else [3]


def _moment(language: str, method: str) -> str:
    when = DateFormatter(translator(language), UTC, NOW)
    value = LENGTH if method == "length" else NOW + LENGTH if method == "until" else NOW - LENGTH
    return str(getattr(when, method)(value))


@cache
def moments_of_templates() -> Mapping[tuple[str, str], str]:
    """By code and parameter the method of `when` with which a template writes it."""
    texts = [path.read_text() for path in Path(web.__file__).parent.glob("*/templates/**/*.html")]
    return {
        (call["code"], name): method
        for text in texts
        for call in _IN_TEMPLATE.finditer(text)
        for name, method in _MOMENT.findall(call["rest"].split(" t(")[0])
    }
