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
from tests.flows.refresh_environment import NOW, RefreshEnvironment, answer, item

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


async def test_the_extra_writers_join_the_batch_in_the_order_of_the_list(env: RefreshEnvironment) -> None:
    feed = await env.add(served=answer(item("a")))
    env.tools = replace(
        env.tools,
        writers=RefreshWriters(
            stories=NoteWriter("stories"),
            filters=NoteWriter("filters"),
            webhooks=NoteWriter("webhooks"),
            pools=NoteWriter("pools"),
        ),
    )

    await refresh_feed(env.tools, await env.claim(feed), NoteWriter("job"))

    names = ["pools", "webhooks", "filters", "stories", "job"]
    assert await _notes(env) == [(name, "Updated") for name in names]
    assert await env.titles() == ["a"]


@pytest.mark.parametrize("failing", ["pools", "webhooks", "filters", "stories"])
async def test_a_writer_that_fails_leaves_nothing_of_the_refresh(env: RefreshEnvironment, failing: str) -> None:
    feed = await env.add(served=answer(item("a")))
    others = RefreshWriters(*map(NoteWriter, ("pools", "webhooks", "filters", "stories")))
    env.tools = replace(env.tools, writers=replace(others, **{failing: crashing_writer}))
    claim = await env.claim(feed)
    before = await env.feed(feed)

    with pytest.raises(InfrastructureError):
        await refresh_feed(env.tools, claim, NoteWriter("job"))

    assert await env.feed(feed) == before
    assert await read_claim(env.db, feed.id, claim.token) is not None
    assert await _written(env, feed) == []
    assert env.announced == []


async def test_a_step_that_the_database_refuses_is_recorded_as_a_failure_and_keeps_no_entry(
    env: RefreshEnvironment,
) -> None:
    feed = await env.add(served=answer(item("a")))
    env.tools = replace(env.tools, writers=RefreshWriters(NoteWriter("pools"), write_nothing, writer_of_a_refused_step))

    decision = await refresh_feed(env.tools, await env.claim(feed), NoteWriter("job"))

    assert isinstance(decision, Failed)
    assert decision.kind == "not_stored"
    assert await env.rows(entries) == []
    assert [line["outcome"] for line in await env.rows(fetch_log)] == ["not_stored"]
    assert await _notes(env) == [("pools", "Failed"), ("job", "Failed")]


def _note(name: str | None, decision: RefreshDecision) -> Step:
    return Step(ADD_NOTE, {"at": to_iso(NOW), "action": name, "subject": type(decision).__name__})


async def _notes(env: RefreshEnvironment) -> list[tuple[str, str]]:
    """The notes in the order in which they were written."""
    return [(row["action"], row["subject"]) for row in await env.rows(audit)]


async def _written(env: RefreshEnvironment, feed: Feed) -> list[object]:
    found = [await env.rows(table, feed_id=feed.id) for table in (entries, fetch_log)]
    return [*(row for rows in found for row in rows), *await _notes(env)]
