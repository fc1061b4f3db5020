"""What conditions ask of an entry, and whether a condition holds for it. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from feedmill.library.filters.regular_expressions import RegexSearch, matches_regex
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.refresh import IndexedWords
from feedmill.model.search_query import (
    And,
    DateRange,
    HasMedia,
    InFeeds,
    InLanguage,
    Not,
    Or,
    RegexMatch,
    SearchCondition,
    TextMatch,
)
from feedmill.model.timestamps import from_iso
from feedmill.store.entries.read_entries import decode_enclosures
from feedmill.store.filters.filterable_entries import FilterableEntry
from feedmill.store.search.index import SearchableEntry, tokenize_entry
from feedmill.store.search.index_table import place_seconds
from feedmill.store.search.tokenizer import MAX_LINE, MAX_URL, visible_text

_WORD_FIELDS = {"title": "title", "author": "author", "text": "words"}
_REGEX_FIELDS = {"any": ("title", "author", "text")}


@dataclass(frozen=True)
class EntryFacts:
    """An entry as conditions see it. What is not given is not asked: rules of a feed are about the texts alone."""

    entry: SearchableEntry
    feed_id: int = 0
    at: datetime | None = None
    language: str | None = None
    has_picture: bool = False
    enclosures: Sequence[Enclosure] = ()
    known_words: IndexedWords | None = None

    @cached_property
    def indexed(self) -> IndexedWords:
        return self.known_words or tokenize_entry(self.entry)

    @cached_property
    def words(self) -> dict[str, str]:
        """The indexed words by field, with a space around each word."""
        return {name: f" {words} " for name, words in self.indexed.fields.items()}

    @cached_property
    def all_words(self) -> str:
        """The words of all fields, with a space around each, and two between fields: no phrase goes across."""
        return f" {'  '.join(self.indexed.fields.values())} "

    @cached_property
    def texts(self) -> dict[str, bytes]:
        """The texts by field, as a regular expression reads them."""
        entry = self.entry
        texts = {
            "title": visible_text((entry.title or "")[:MAX_LINE]),
            "author": (entry.author or "")[:MAX_LINE],
            "text": visible_text(f"{entry.content_html or ''} {entry.summary or ''}"),
            "url": (entry.link or "")[:MAX_URL],
        }
        # A lone surrogate can't be encoded.
        return {name: text.encode(errors="replace") for name, text in texts.items()}


def stored_entry_facts(entry: FilterableEntry) -> EntryFacts:
    return EntryFacts(
        entry,
        entry.feed_id,
        from_iso(entry.sort_at),
        entry.language,
        entry.has_picture,
        decode_enclosures(entry.enclosures),
    )


def holds(condition: SearchCondition, facts: EntryFacts, matches: RegexSearch = matches_regex) -> bool:
    """Whether the condition holds for the entry; `matches` runs its regular expressions."""
    match condition:
        case TextMatch(words=words, scope=scope, prefix=prefix):
            looked_for = f" {' '.join(words)}" if prefix else f" {' '.join(words)} "
            return looked_for in (facts.all_words if scope == "any" else facts.words[_WORD_FIELDS[scope]])
        case And(parts=parts):
            return all(holds(part, facts, matches) for part in parts)
        case Or(parts=parts):
            return any(holds(part, facts, matches) for part in parts)
        case Not(part=part):
            return not holds(part, facts, matches)
        case RegexMatch(pattern=pattern, scope=where):
            return any(matches(pattern, facts.texts[name]) for name in _REGEX_FIELDS.get(where, (where,)))
        case InFeeds(ids=ids):
            return facts.feed_id in ids
        case HasMedia(name=name):
            return _has_media(name, facts)
        case InLanguage(code=code):
            return _is_language(code, facts.language)
        case DateRange(since=since, until=until):
            return facts.at is not None and _is_within(facts.at, since, until)
    raise AssertionError(f"{condition} is not about an entry")


def words_needed(condition: SearchCondition) -> frozenset[str] | None:
    """Words of which an entry must have one if the condition holds for it; None: it may hold without any word.

    A word with an asterisk is the beginning of one.
    """
    match condition:
        case TextMatch(words=words, prefix=prefix):
            whole = words[:-1] if prefix else words
            return frozenset({max(whole, key=len) if whole else f"{words[0]}*"})
        case And(parts=parts):
            found = [needed for part in parts if (needed := words_needed(part)) is not None]
            return min(found, key=_cost, default=None)
        case Or(parts=parts):
            each = [words_needed(part) for part in parts]
            return None if None in each else frozenset().union(*(needed for needed in each if needed))
    return None


def _cost(needed: frozenset[str]) -> tuple[int, int]:
    """Few words are best, and beginnings of words are looked for one by one."""
    return sum(word.endswith("*") for word in needed), len(needed)


def _has_media(name: str, facts: EntryFacts) -> bool:
    if name == "enclosure":
        return bool(facts.enclosures)
    carries = any((each.type or "").startswith(f"{name}/") for each in facts.enclosures)
    return carries or (name == "image" and facts.has_picture)


def _is_language(code: str, language: str | None) -> bool:
    found = (language or "").lower()
    return found == code or found.startswith(f"{code}-")


def _is_within(at: datetime, since: datetime | None, until: datetime | None) -> bool:
    """In whole seconds, as the index compares them."""
    seconds = place_seconds(at)
    return (since is None or seconds >= place_seconds(since)) and (until is None or seconds < place_seconds(until))
