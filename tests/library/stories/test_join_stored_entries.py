"""The background pass: what refreshes at the same time, restores and earlier versions left apart."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.sql import Executable

from feedmill.collect.refresh import RefreshWriters, refresh_feed
from feedmill.library.stories.join_new_entries import story_writes
from feedmill.library.stories.join_stored_entries import COMPARED_UNTIL, join_stored_entries, prune_index
from feedmill.model.feed import Claim
from feedmill.model.refresh import RefreshDecision
from feedmill.store.database import NO_PARAMS, Database, Params, Row, Step
from feedmill.store.instance_state import set_instance_value
from feedmill.store.schema import entries, story_entries, story_keys, story_sketches
from tests.flows.refresh_environment import DAY, HOUR, answer
from tests.library.stories.story_feeds import StoryFeeds

BRIDGE = "A bridge opens in Lisbon"


async def _forget_stories(stories: StoryFeeds) -> None:
    """As if all entries had been stored by an earlier version."""
    await stories.env.db.batch([Step(table.delete()) for table in (story_entries, story_keys, story_sketches)])


async def _publish_at_once(stories: StoryFeeds, *names: str) -> None:
    """Publishes an article in several feeds whose refreshes look for stories before any of them is written."""
    all_have_looked = asyncio.Barrier(len(names))

    async def look_and_wait(claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        steps = await story_writes(stories.env.db, claim, decision)
        await all_have_looked.wait()
        return steps

    claims = []
    for name in names:
        stories.env.web.serve(f"/{name}", answer(stories.article(name, BRIDGE)))
        claims.append(await stories.env.claim(stories.feeds[name]))
    tools = replace(stories.env.tools, writers=RefreshWriters(stories=look_and_wait))
    await asyncio.gather(*(refresh_feed(tools, claim) for claim in claims))


@dataclass
class DyingDatabase:
    """A database whose process is killed at its next batch once it has written some."""

    db: Database
    batches: int

    @property
    def dialect_name(self) -> str:
        return self.db.dialect_name

    async def query(self, statement: Executable, params: Params = NO_PARAMS) -> list[Row]:
        return await self.db.query(statement, params)

    async def batch(self, steps: Sequence[Step]) -> list[int]:
        self.batches -= 1
        if self.batches < 0:
            raise KeyboardInterrupt
        return await self.db.batch(steps)

    async def exec(self, sql: str) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


async def test_refreshes_at_the_same_time_are_joined_later(any_stories: StoryFeeds) -> None:
    stories = any_stories
    await stories.add("one", "two", "three")
    await _publish_at_once(stories, "one", "two", "three")
    assert await stories.together() == set()

    done = await join_stored_entries(stories.env.db, stories.env.now)
    again = await join_stored_entries(stories.env.db, stories.env.now)

    assert await stories.together() == {frozenset(f"{name}: {BRIDGE}" for name in ("one", "two", "three"))}
    assert done["entries_indexed"] == 0
    assert again == {"entries_indexed": 0, "stories_joined": 0}


async def test_two_stories_that_began_at_the_same_time_become_one(stories: StoryFeeds) -> None:
    await stories.add("one", "two", "three", "four")
    for name in ("one", "two", "three", "four"):
        await stories.publish(name, stories.article(name, BRIDGE))
    ids = [row["id"] for row in await stories.env.db.query(select(entries.c.id).order_by(entries.c.id))]
    split = story_entries.update().where(story_entries.c.entry_id.in_(ids[2:])).values(story_id=ids[2])
    await stories.env.db.batch([Step(split)])
    assert len(await stories.together()) == 2

    stories.env.now += timedelta(minutes=1)
    await set_instance_value(stories.env.db, COMPARED_UNTIL, "2026-01-01T00:00:00.000Z")
    await join_stored_entries(stories.env.db, stories.env.now)

    assert await stories.together() == {frozenset(f"{name}: {BRIDGE}" for name in stories.feeds)}


async def test_stored_entries_are_indexed_and_joined_the_newest_first(any_stories: StoryFeeds) -> None:
    stories = any_stories
    await stories.add("one", "two", "three")
    for name in ("one", "two"):
        await stories.publish(name, stories.article(name, BRIDGE))
    await _forget_stories(stories)

    stories.env.now += DAY
    done = await join_stored_entries(stories.env.db, stories.env.now)

    assert done == {"entries_indexed": 2, "stories_joined": 1}
    await stories.publish("three", stories.article("three", BRIDGE))
    assert await stories.together() == {frozenset(f"{name}: {BRIDGE}" for name in ("one", "two", "three"))}


async def test_a_pass_that_is_killed_goes_on_where_it_was(stories: StoryFeeds) -> None:
    await stories.add("one", "two")
    for number in range(4):
        for name in ("one", "two"):
            await stories.publish(name, stories.article(name, f"Article number {number} of all"))
    await _forget_stories(stories)
    stories.env.now += DAY

    async def ends_within(batches: int) -> bool:
        with suppress(KeyboardInterrupt):
            await join_stored_entries(DyingDatabase(stories.env.db, batches), stories.env.now)
            return True
        return False

    kills = 0
    while not await ends_within(kills):
        kills += 1

    assert kills > 3
    assert len(await stories.together()) == 4


async def test_old_entries_are_neither_indexed_nor_kept_in_the_index(stories: StoryFeeds) -> None:
    await stories.add("one", "two")
    await stories.publish("one", stories.article("one", BRIDGE))
    await stories.replace("one", stories.article("one", "A later article"))
    stories.env.now += 31 * DAY

    await stories.publish("two", stories.article("two", "An article of today"))
    dropped = await prune_index(stories.env.db, stories.env.now)
    indexed = (await join_stored_entries(stories.env.db, stories.env.now))["entries_indexed"]

    titles = select(entries.c.title).join(story_sketches, story_sketches.c.entry_id == entries.c.id)
    kept = {row["title"] for row in await stories.env.db.query(titles)}
    assert (dropped, indexed, kept) == (1, 0, {"A later article", "An article of today"})
    keyed = {row["entry_id"] for row in await stories.env.db.query(select(story_keys.c.entry_id))}
    sketched = {row["entry_id"] for row in await stories.env.db.query(select(story_sketches.c.entry_id))}
    assert keyed == sketched


async def test_keys_of_entries_that_are_gone_are_deleted(any_stories: StoryFeeds) -> None:
    stories = any_stories
    await stories.add("one")
    await stories.publish("one", stories.article("one", BRIDGE))
    await stories.env.db.batch([Step(entries.delete())])

    await prune_index(stories.env.db, stories.env.now + HOUR)

    assert await stories.env.rows(story_keys) == []
