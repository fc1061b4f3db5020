"""The extra writers of a refresh: their order, and that all of them share one atomic write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from feedmill.collect.refresh import RefreshWriters, refresh_feed, write_nothing
from feedmill.errors import InfrastructureError
from feedmill.model.feed import Claim, Feed
from feedmill.model.refresh import Failed, RefreshDecision, Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.claims import read_claim
from feedmill.store.schema import audit, entries, fetch_log
from tests.flows.world import NOW, World, answer, item

ADD_NOTE = insert(audit, "at", "action", "subject")


@dataclass
class NoteWriter:
    """Adds a row with its name and the decision."""

    name: str

    async def __call__(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        return [_note(self.name, decision)]


async def crashing_writer(claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    raise InfrastructureError("the database is away")


async def writer_of_a_refused_step(claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    """What it adds to new entries breaks a constraint of the database."""
    return [_note(None, decision)] if isinstance(decision, Updated) else ()


async def test_the_extra_writers_join_the_batch_in_the_order_of_the_list(world: World) -> None:
    feed = await world.add(served=answer(item("a")))
    world.tools = replace(
        world.tools,
        writers=RefreshWriters(
            filters=NoteWriter("filters"), webhooks=NoteWriter("webhooks"), pools=NoteWriter("pools")
        ),
    )

    await refresh_feed(world.tools, await world.claim(feed), NoteWriter("job"))

    names = ["pools", "webhooks", "filters", "job"]
    assert await _notes(world) == [(name, "Updated") for name in names]
    assert await world.titles() == ["a"]


@pytest.mark.parametrize("failing", ["pools", "webhooks", "filters"])
async def test_a_writer_that_fails_leaves_nothing_of_the_refresh(world: World, failing: str) -> None:
    feed = await world.add(served=answer(item("a")))
    others = RefreshWriters(NoteWriter("pools"), NoteWriter("webhooks"), NoteWriter("filters"))
    world.tools = replace(world.tools, writers=replace(others, **{failing: crashing_writer}))
    claim = await world.claim(feed)
    before = await world.feed(feed)

    with pytest.raises(InfrastructureError):
        await refresh_feed(world.tools, claim, NoteWriter("job"))

    assert await world.feed(feed) == before
    assert await read_claim(world.db, feed.id, claim.token) is not None
    assert await _written(world, feed) == []
    assert world.said == []


async def test_a_step_that_the_database_refuses_is_recorded_as_a_failure_and_keeps_no_entry(world: World) -> None:
    feed = await world.add(served=answer(item("a")))
    world.tools = replace(
        world.tools, writers=RefreshWriters(NoteWriter("pools"), write_nothing, writer_of_a_refused_step)
    )

    decision = await refresh_feed(world.tools, await world.claim(feed), NoteWriter("job"))

    assert isinstance(decision, Failed)
    assert decision.kind == "not_stored"
    assert await world.rows(entries) == []
    assert [line["outcome"] for line in await world.rows(fetch_log)] == ["not_stored"]
    assert await _notes(world) == [("pools", "Failed"), ("job", "Failed")]


def _note(name: str | None, decision: RefreshDecision) -> Step:
    return Step(ADD_NOTE, {"at": to_iso(NOW), "action": name, "subject": type(decision).__name__})


async def _notes(world: World) -> list[tuple[str, str]]:
    """The notes in the order in which they were written."""
    return [(row["action"], row["subject"]) for row in await world.rows(audit)]


async def _written(world: World, feed: Feed) -> list[object]:
    found = [await world.rows(table, feed_id=feed.id) for table in (entries, fetch_log)]
    return [*(row for rows in found for row in rows), *await _notes(world)]
