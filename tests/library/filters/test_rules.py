"""Rules that keep new entries out of the unread list: their syntax and their errors."""

from datetime import UTC, datetime

import pytest

from feedmill.library.filters.rules import (
    MOST_LINES,
    BadRule,
    FilterRules,
    judge_entry,
    parse_rules,
    stored_rules,
)
from feedmill.model.feed_settings import MAX_RULES_LENGTH, FeedSettings
from tests.library.small_library import new_entry

NOW = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
ENTRY = new_entry(
    "Sponsored: the Best Kilns",
    NOW,
    author="Ada Lovelace",
    link="https://shop.example.org/kilns/sale?x=1",
    content_html="<p>Fire &amp; clay for everybody. 人工智能会改变世界。</p>",
)


def blocks(block: str = "", keep: str = "") -> bool:
    return judge_entry(parse_rules(block, keep), ENTRY).is_blocked


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        ("sponsored", True),
        ("sponsor", False),
        ("sponsor*", True),
        ('"best kilns"', True),
        ('"kilns best"', False),
        ("fire clay", True),
        ("fire glaze", False),
        ("fire OR glaze", True),
        ("-glaze", True),
        ("in:title:fire", False),
        ("in:text:fire", True),
        ("in:title (fire OR kilns)", True),
        ("author:lovelace", True),
        ("author:kilns", False),
        ("inurl:sale", True),
        ("inurl:fire", False),
        ("site:example.org", True),
        ("site:example.com", False),
        ("智能", True),
        ("能智", False),
        ("in:title -智能", True),
    ],
)
def test_a_rule_is_a_search_over_the_entry_alone(rule: str, found: bool) -> None:
    assert blocks(rule) is found


@pytest.mark.parametrize(
    ("block", "keep", "is_blocked"),
    [
        ("", "", False),
        ("kilns", "", True),
        ("glaze", "", False),
        ("", "kilns", False),
        ("", "glaze", True),
        ("", "glaze\nkilns", False),
        ("kilns", "kilns", True),
        ("glaze\n\n  kilns  \n", "", True),
    ],
)
def test_block_rules_win_and_entries_without_a_matching_keep_rule_are_blocked(
    block: str, keep: str, is_blocked: bool
) -> None:
    assert blocks(block, keep) is is_blocked


def test_the_rule_that_decided_is_named() -> None:
    assert judge_entry(parse_rules("glaze\nkilns", ""), ENTRY).line == "kilns"
    assert judge_entry(parse_rules("", "fire"), ENTRY).line == "fire"
    assert judge_entry(parse_rules("", "glaze"), ENTRY).line == ""


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("is:unread", "bad_rule.not_in_rules"),
        ("feed:3", "bad_rule.not_in_rules"),
        ("#work", "bad_rule.not_in_rules"),
        ("after:2026", "bad_rule.not_in_rules"),
        ('"never closed', "bad_search.open_quote"),
        ("(a", "bad_search.open_group"),
        ("!!", "bad_search.empty"),
        ("(" * 60 + "a" + ")" * 60, "bad_search.too_deep"),
        ("a " * 51, "bad_search.too_many"),
        ("a" * 1001, "bad_search.too_long"),
    ],
)
def test_an_invalid_rule_is_refused_with_its_line(rule: str, code: str) -> None:
    with pytest.raises(BadRule) as refused:
        parse_rules("", f"fine\n{rule}")

    assert (refused.value.field, refused.value.line, refused.value.reason.code) == ("keep_rules", 2, code)


def test_the_number_of_rules_is_limited() -> None:
    with pytest.raises(BadRule) as too_long:
        parse_rules("ab " * MAX_RULES_LENGTH, "")
    with pytest.raises(BadRule) as too_many:
        parse_rules("a\n" * (MOST_LINES + 1), "")

    assert too_long.value.reason.code == "bad_rule.too_long"
    assert too_many.value.reason.code == "bad_rule.too_many"


def test_stored_rules_that_are_no_longer_valid_block_nothing() -> None:
    assert stored_rules(FeedSettings(block_rules="feed:3")) == FilterRules()
