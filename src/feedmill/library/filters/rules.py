"""Parses filter rules and applies them to entries. Pure.

An entry is blocked if a block rule matches, or if there are keep rules and none of them matches. There are no regular
expressions: the cost of a rule is linear in its length and that of the entry.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.query_parser import parse_query
from feedmill.library.search.query_tokens import tokenize
from feedmill.model.feed_settings import MAX_RULES_LENGTH, FeedSettings
from feedmill.model.search_query import And, Not, Or, SearchCondition, TextMatch
from feedmill.store.search.index import SearchableEntry, indexed_words

log = get_logger(__name__)

MOST_LINES = 50

# Conditions on the entry itself; the rest of the search language is about a reader or other entries.
_OF_THE_ENTRY = frozenset({"text", "in:title", "in:author", "in:url", "in:text", "site", "(", ")", "not", "or", "and"})
_SCOPES = {"any": ("title", "author", "words"), "title": ("title",), "author": ("author",), "text": ("words",)}
# Rules have no dates, so the current time does not matter.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class BadRule(BadInput):
    """A line is not a valid rule; `reason` says why, `line` counts from 1."""

    code = "bad_rule"

    def __init__(self, field: str, line: int, reason: Message) -> None:
        super().__init__(Message("bad_rule.at_line", line=line, reason=reason), field)
        self.line, self.reason = line, reason
        self.more = {"line": line}


@dataclass(frozen=True, slots=True)
class FilterRule:
    """A line, and its condition."""

    line: str
    condition: SearchCondition


@dataclass(frozen=True, slots=True)
class FilterRules:
    block: tuple[FilterRule, ...] = ()
    keep: tuple[FilterRule, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """`line` is the rule that decided; empty if no rule matched."""

    is_blocked: bool
    line: str = ""


class _NoNames:
    """Resolves no names: rules have none."""

    def feeds(self, name: str) -> tuple[int, ...]:
        return ()

    def folder(self, name: str) -> tuple[int, ...]:
        return ()

    def labels(self, name: str) -> tuple[int, ...]:
        return ()


def parse_rules(block: str, keep: str) -> FilterRules:
    """The rules of the lines; raises `BadRule`."""
    return FilterRules(_read(block, "block_rules"), _read(keep, "keep_rules"))


def stored_rules(settings: FeedSettings) -> FilterRules:
    """The rules of a subscriber. Rules that can no longer be parsed block nothing."""
    try:
        return parse_rules(settings.block_rules, settings.keep_rules)
    except BadRule as error:
        log.warning("filter_rules_unreadable", reason=str(error))
        return FilterRules()


def judge_entry(rules: FilterRules, entry: SearchableEntry) -> Verdict:
    return judge_words(rules, words_to_judge(entry))


def words_to_judge(entry: SearchableEntry) -> dict[str, str]:
    """The words of an entry that rules match; computed once for the rules of all subscribers."""
    return {name: f" {words} " for name, words in indexed_words(entry).items()}


def judge_words(rules: FilterRules, entry_words: dict[str, str]) -> Verdict:
    for rule in rules.block:
        if _holds(rule.condition, entry_words):
            return Verdict(True, rule.line)
    kept_by = next((rule.line for rule in rules.keep if _holds(rule.condition, entry_words)), None)
    return Verdict(bool(rules.keep) and kept_by is None, kept_by or "")


def _read(text: str, field: str) -> tuple[FilterRule, ...]:
    lines = [(number, line.strip()) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(text) > MAX_RULES_LENGTH:
        raise BadRule(field, len(lines), Message("bad_rule.too_long", n=MAX_RULES_LENGTH))
    if len(lines) > MOST_LINES:
        raise BadRule(field, MOST_LINES + 1, Message("bad_rule.too_many", n=MOST_LINES))
    return tuple(FilterRule(line, _condition(line, field, number)) for number, line in lines)


def _condition(line: str, field: str, number: int) -> SearchCondition:
    try:
        tokens = tokenize(line)
        if odd := next((token.kind for token in tokens if token.kind not in _OF_THE_ENTRY), None):
            raise BadRule(field, number, Message("bad_rule.not_in_rules", field=f"{odd}:"))
        return parse_query(tokens, _NoNames(), _NO_TIME)
    except BadSearch as error:
        raise BadRule(field, number, error.reason) from error


def _holds(condition: SearchCondition, entry_words: dict[str, str]) -> bool:
    match condition:
        case TextMatch(words=words, scope=scope, prefix=prefix):
            looked_for = f" {' '.join(words)}" if prefix else f" {' '.join(words)} "
            return any(looked_for in entry_words[name] for name in _SCOPES[scope])
        case Not(part=part):
            return not _holds(part, entry_words)
        case And(parts=parts):
            return all(_holds(part, entry_words) for part in parts)
        case Or(parts=parts):
            return any(_holds(part, entry_words) for part in parts)
    raise AssertionError(f"{condition} is no part of a rule")
