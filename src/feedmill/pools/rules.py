"""Decides whether an entry matches the rule of a pool group."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from feedmill.html.plain_text import plain_text
from feedmill.model.pool import PoolGroup, PoolKind, PoolRule

# A word of a script with spaces must be a whole word; others (Chinese, Thai) match anywhere.
_LETTER = r"[^\W\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff]"


@dataclass(frozen=True)
class PoolCandidate:
    """The parts of an entry that rules use. `key` is the guid of a new entry, the id of a stored one."""

    key: str | int
    feed_id: int
    folder: tuple[str, ...]
    date: datetime
    language: str | None
    title: str | None
    html: str | None
    labels: frozenset[str] = frozenset()

    @cached_property
    def text(self) -> str:
        return plain_text(self.html, None) if self.html else ""

    @property
    def kinds(self) -> tuple[PoolKind, ...]:
        """The kinds of pools for which the entry has a text."""
        offered = ((PoolKind.TITLES, self.title), (PoolKind.CONTENTS, self.html))
        return tuple(kind for kind, text in offered if text and not text.isspace())


def matches_rule(rule: PoolRule, entry: PoolCandidate) -> bool:
    """Whether all conditions hold; cheap ones are checked first."""
    return (
        not rule.no_entries
        and _is_from(rule, entry)
        and (rule.since is None or entry.date >= rule.since)
        and (not rule.labels or not entry.labels.isdisjoint(rule.labels))
        and (rule.language is None or _has_language(entry.language, rule.language))
        and (not rule.min_length or len(entry.text) >= rule.min_length)
        and (not rule.words or _contains_any(entry, rule.words))
        and not (rule.without and _contains_any(entry, rule.without))
    )


def is_in_folder(names: Sequence[str], folder: str) -> bool:
    """Whether the folder with these names is that one or below it."""
    path = "/".join(names)
    return path == folder or path.startswith(f"{folder}/")


def choose_pools(
    groups: Sequence[PoolGroup], entries: Iterable[PoolCandidate]
) -> dict[tuple[int, PoolKind], list[PoolCandidate]]:
    """The entries for each pool, by group id and kind."""
    found: dict[tuple[int, PoolKind], list[PoolCandidate]] = {}
    for entry in entries:
        for group in groups:
            if entry.kinds and matches_rule(group.rule, entry):
                for kind in entry.kinds:
                    found.setdefault((group.id, kind), []).append(entry)
    return found


def _is_from(rule: PoolRule, entry: PoolCandidate) -> bool:
    if not rule.feeds and not rule.folders:
        return True
    return entry.feed_id in rule.feeds or any(is_in_folder(entry.folder, folder) for folder in rule.folders)


def _has_language(language: str | None, wanted: str) -> bool:
    """Whether the languages match; `zh` includes `zh-CN`."""
    language, wanted = (language or "").lower().replace("_", "-"), wanted.lower().replace("_", "-")
    return language == wanted or language.startswith(f"{wanted}-")


def _contains_any(entry: PoolCandidate, words: tuple[str, ...]) -> bool:
    pattern = _pattern(words)
    return any(pattern.search(text) is not None for text in (entry.title or "", entry.text))


@lru_cache(maxsize=1000)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(_bounded(word) for word in words), re.IGNORECASE)


def _bounded(word: str) -> str:
    before = f"(?<!{_LETTER})" if re.match(_LETTER, word) else ""
    after = f"(?!{_LETTER})" if re.match(_LETTER, word[-1:]) else ""
    return f"{before}{re.escape(word)}{after}"
