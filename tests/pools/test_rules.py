"""Which entries match a group."""

from dataclasses import replace
from datetime import timedelta

import pytest

from feedmill.model.pool import PoolKind, PoolRule
from feedmill.pools.rules import PoolCandidate, matches_rule
from tests.pools.pool_rows import NOW

ENTRY = PoolCandidate(
    key=1,
    feed_id=7,
    folder=("News", "Tech"),
    date=NOW,
    language="zh-CN",
    title="Rust 1.90 发布",
    html="<p>Ownership &amp; <b>borrowing</b>，所有权 and art.</p>",
    labels=frozenset({"best"}),
)


@pytest.mark.parametrize(
    "rule",
    [
        PoolRule(),
        PoolRule(feeds=(1, 7)),
        PoolRule(folders=("News",)),
        PoolRule(folders=("News/Tech",)),
        PoolRule(feeds=(1,), folders=("News",)),
        PoolRule(labels=("best", "other")),
        PoolRule(words=("rust",)),
        PoolRule(words=("nothing", "BORROWING")),
        PoolRule(words=("有权",)),
        PoolRule(words=("ownership & borrowing",)),
        PoolRule(without=("party",)),
        PoolRule(words=("art",)),
        PoolRule(language="zh"),
        PoolRule(language="ZH_cn"),
        PoolRule(min_length=20),
        PoolRule(since=NOW),
        PoolRule((7,), ("News",), ("best",), ("rust",), ("go",), "zh", 10, NOW),
    ],
)
def test_an_entry_matches_when_every_condition_holds(rule: PoolRule) -> None:
    assert matches_rule(rule, ENTRY)


@pytest.mark.parametrize(
    "rule",
    [
        PoolRule(feeds=(1,)),
        PoolRule(folders=("New",)),
        PoolRule(folders=("News/Tech/Deep",)),
        PoolRule(labels=("other",)),
        PoolRule(words=("borrow",)),
        PoolRule(words=("b",)),
        PoolRule(without=("RUST",)),
        PoolRule(without=("所有权",)),
        PoolRule(language="en"),
        PoolRule(language="z"),
        PoolRule(min_length=100),
        PoolRule(since=NOW + timedelta(seconds=1)),
        PoolRule((7,), ("News",), ("best",), ("rust",), ("art",), "zh", 10, NOW),
    ],
)
def test_an_entry_does_not_match_when_one_condition_fails(rule: PoolRule) -> None:
    assert not matches_rule(rule, ENTRY)


def test_an_entry_joins_only_the_pools_that_it_has_text_for() -> None:
    assert ENTRY.kinds == (PoolKind.TITLES, PoolKind.CONTENTS)
    assert replace(ENTRY, title=" ").kinds == (PoolKind.CONTENTS,)
    assert replace(ENTRY, html=None).kinds == (PoolKind.TITLES,)


def test_an_entry_without_a_language_matches_no_language() -> None:
    assert not matches_rule(PoolRule(language="en"), replace(ENTRY, language=None))
