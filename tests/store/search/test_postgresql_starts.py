"""Where a search on PostgreSQL begins: it finds the same from each start, and takes the one that reads least."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from sqlalchemy import select, text

from feedmill.library.entries.marks import apply_marks
from feedmill.model.entry_lists import ListPosition
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.search_query import And, DateRange, HasState, InFeeds, Not, SearchCondition, TextMatch
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.entries.labels import add_label
from feedmill.store.schema import entries, feeds
from feedmill.store.search import driving_index, postgresql
from feedmill.store.search.driving_index import VISIBLE_BY_DATE, WORDS
from feedmill.store.search.find_entries import count_matches, find_best_matches, find_newest_matches
from feedmill.store.search.postgresql import DIALECT, PostgresqlSearch
from feedmill.store.search.split_query import ConditionShape, prepare_search
from tests.databases import emptied
from tests.library.small_library import DAY, NOW, SmallLibrary

WORD, OTHER, ABSENT = TextMatch(("river",)), TextMatch(("stone",)), TextMatch(("nowhere",))
TIMES = (
    datetime(1850, 1, 1, tzinfo=UTC),
    datetime(1901, 12, 13, 20, 45, 52, tzinfo=UTC),
    datetime(2150, 1, 1, tzinfo=UTC),
    *(NOW - timedelta(milliseconds=300 * number) for number in range(12)),
    *(NOW - number * DAY for number in range(20)),
)


class Readers(NamedTuple):
    """Bob subscribes to two of three feeds and has marked entries of the third."""

    db: Database
    library: SmallLibrary
    bob: User
    feeds: list[int]


@pytest.fixture
async def readers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Readers]:
    async with emptied(request, "postgresql", tmp_path) as db:
        library, chance = SmallLibrary(db), Random("starts")
        bob, feed_ids = await library.person("bob"), [await library.feed(name) for name in ("a", "b", "c")]
        label = (await add_label(db, bob.id, "red")).id
        subscribed = [await library.subscribe(bob, feed) for feed in feed_ids]
        for number, at in enumerate(TIMES):
            said = " ".join(chance.sample(["river", "stone", "river", "bridge", "river stone"], 2))
            feed, title = chance.choice(feed_ids), f"{said} {number}"
            [entry] = await library.arrive(feed, title, at=at, content_html=f"{said} and more")
            if chance.random() < 0.3:
                marks = (EntryMarks(starred=True), EntryMarks(later=True), EntryMarks(add_labels=(label,)))
                await apply_marks(db, bob.id, [entry], chance.choice(marks), NOW)
        await db.batch([Step(text(f"DELETE FROM subscriptions WHERE id = {subscribed[2]}"))])
        yield Readers(db, library, bob, feed_ids)


async def test_every_start_finds_the_same(readers: Readers, monkeypatch: pytest.MonkeyPatch) -> None:
    db, _, bob, feed_ids = readers
    conditions: list[SearchCondition] = [
        WORD,
        ABSENT,
        And((WORD, OTHER)),
        And((WORD, Not(OTHER))),
        TextMatch(("river", "stone")),
        TextMatch(("river",), "title"),
        And((WORD, DateRange(since=NOW - 5 * DAY, until=NOW))),
        And((WORD, HasState("starred"))),
        And((WORD, InFeeds((feed_ids[2],)))),
        Not(WORD),
        HasState("unread"),
    ]
    for condition in conditions:
        found = [await everything(monkeypatch, db, bob, condition, start) for start in starts_of(condition)]

        assert found.count(found[0]) == len(found), condition


async def test_a_user_with_a_small_share_of_all_entries_begins_with_their_own(
    readers: Readers, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, library, bob, feed_ids = readers
    charlie = await library.person("charlie")
    for feed in feed_ids:
        await library.subscribe(charlie, feed)
    monkeypatch.setattr(postgresql, "RARE", 0)
    monkeypatch.setattr(driving_index, "FEW", 0)
    many = await library.feed("many")
    await library.arrive(many, *(f"river {number}" for number in range(2000)), at=NOW)
    await library.subscribe(charlie, many)
    await db.batch([Step(feeds.update().values(entry_count=10))])
    await db.batch([Step(feeds.update().where(feeds.c.id == many).values(entry_count=2000))])
    await db.exec("ANALYZE search_texts")

    assert await chosen(db, WORD, bob) == VISIBLE_BY_DATE
    assert await chosen(db, Not(WORD), bob) == VISIBLE_BY_DATE
    assert await chosen(db, WORD, charlie) is None
    assert await chosen(db, Not(WORD), charlie) is None
    assert await chosen(db, ABSENT, bob) == WORDS


def starts_of(condition: SearchCondition) -> list[ConditionShape | None]:
    has_words = prepare_search(condition, DIALECT).match is not None
    return [None, VISIBLE_BY_DATE, *([WORDS] if has_words else [])]


async def chosen(db: Database, condition: SearchCondition, user: User) -> ConditionShape | None:
    return await DIALECT.choose_driving_condition(db, prepare_search(condition, DIALECT), user.id, 5)


async def everything(
    monkeypatch: pytest.MonkeyPatch, db: Database, user: User, condition: SearchCondition, start: ConditionShape | None
) -> list[Any]:
    """All pages by date, two by rank, and the count."""

    async def choose(*_: Any) -> ConditionShape | None:
        return start

    monkeypatch.setattr(PostgresqlSearch, "choose_driving_condition", choose)
    pages, below = list[list[int]](), None
    while page := list(await find_newest_matches(db, condition, user.id, 5, below)):
        pages.append(page)
        [last] = await db.query(select(entries.c.sort_at).where(entries.c.id == page[-1]))
        below = ListPosition(last["sort_at"], page[-1])
    best = [list(await find_best_matches(db, condition, user.id, 7, skipped)) for skipped in (0, 7)]
    return [pages, best, await count_matches(db, condition, user.id, 100)]
