"""Parses filter rules and applies them to entries. Pure.

An entry is blocked if a block rule matches, or if there are keep rules and none of them matches. There are no regular
expressions: the cost of a rule is linear in its length and that of the entry.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.filters.entry_facts import EntryFacts, holds
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.query_names import UserNames
from feedmill.library.search.query_parser import parse_query
from feedmill.library.search.query_tokens import tokenize
from feedmill.model.feed_settings import MAX_RULES_LENGTH, FeedSettings
from feedmill.model.search_query import SearchCondition
from feedmill.store.search.index import SearchableEntry

log = get_logger(__name__)

MOST_LINES = 50

# Conditions on the entry itself; the rest of the search language is about a reader or other entries.
_OF_THE_ENTRY = frozenset({"text", "in:title", "in:author", "in:url", "in:text", "site", "(", ")", "not", "or", "and"})
# Rules have no names and no dates.
_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_NO_NAMES = UserNames()


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
    return judge_facts(rules, EntryFacts(entry))


def judge_facts(rules: FilterRules, facts: EntryFacts) -> Verdict:
    for rule in rules.block:
        if holds(rule.condition, facts):
            return Verdict(True, rule.line)
    kept_by = next((rule.line for rule in rules.keep if holds(rule.condition, facts)), None)
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
        return parse_query(tokens, _NO_NAMES, _NO_TIME)
    except BadSearch as error:
        raise BadRule(field, number, error.reason) from error
