"""Which entries a group wants."""

from dataclasses import replace
from datetime import timedelta

import pytest

from feedmill.model.pool import Kind, Rule
from feedmill.pools.rules import Candidate, wants
from tests.pools.rows import NOW

ENTRY = Candidate(
    key=1,
    feed_id=7,
    folder=("News", "Tech"),
    sort_at=NOW,
    language="zh-CN",
    title="Rust 1.90 发布",
    html="<p>Ownership &amp; <b>borrowing</b>，所有权 and art.</p>",
    labels=frozenset({"best"}),
)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(),
        Rule(feeds=(1, 7)),
        Rule(folders=("News",)),
        Rule(folders=("News/Tech",)),
        Rule(feeds=(1,), folders=("News",)),
        Rule(labels=("best", "other")),
        Rule(words=("rust",)),
        Rule(words=("nothing", "BORROWING")),
        Rule(words=("有权",)),
        Rule(words=("ownership & borrowing",)),
        Rule(without=("party",)),
        Rule(words=("art",)),
        Rule(language="zh"),
        Rule(language="ZH_cn"),
        Rule(min_length=20),
        Rule(since=NOW),
        Rule((7,), ("News",), ("best",), ("rust",), ("go",), "zh", 10, NOW),
    ],
)
def test_an_entry_is_wanted_when_every_condition_holds(rule: Rule) -> None:
    assert wants(rule, ENTRY)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(feeds=(1,)),
        Rule(folders=("New",)),
        Rule(folders=("News/Tech/Deep",)),
        Rule(labels=("other",)),
        Rule(words=("borrow",)),
        Rule(words=("b",)),
        Rule(without=("RUST",)),
        Rule(without=("所有权",)),
        Rule(language="en"),
        Rule(language="z"),
        Rule(min_length=100),
        Rule(since=NOW + timedelta(seconds=1)),
        Rule((7,), ("News",), ("best",), ("rust",), ("art",), "zh", 10, NOW),
    ],
)
def test_an_entry_is_not_wanted_when_one_condition_fails(rule: Rule) -> None:
    assert not wants(rule, ENTRY)


def test_an_entry_goes_where_it_has_something_to_give() -> None:
    assert ENTRY.kinds == (Kind.TITLES, Kind.CONTENTS)
    assert replace(ENTRY, title=" ").kinds == (Kind.CONTENTS,)
    assert replace(ENTRY, html=None).kinds == (Kind.TITLES,)


def test_an_entry_without_language_speaks_none() -> None:
    assert not wants(Rule(language="en"), replace(ENTRY, language=None))
