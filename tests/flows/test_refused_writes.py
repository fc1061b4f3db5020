"""What the database refuses of filters and stories does not stop a feed."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from feedmill.collect.refresh import RefreshWriters
from feedmill.model.feed import Claim
from feedmill.model.refresh import RefreshDecision, Updated
from feedmill.store.database import Step
from feedmill.store.schema import labels
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item


async def refused(claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    """A label without a user."""
    return [Step(labels.insert().values(name="no owner"))]


@pytest.mark.parametrize("writer", ["filters", "stories"])
async def test_entries_are_stored_without_what_the_database_refuses(
    any_env: RefreshEnvironment, logged: list[dict[str, object]], writer: str
) -> None:
    env = any_env
    env.tools = replace(env.tools, writers=replace(RefreshWriters(), **{writer: refused}))
    alice = await env.user("Alice", 11)
    feed = await env.add("/feed", answer(item("a")))
    await env.subscribe(alice, feed)

    decisions = [await env.refresh(feed), await env.later(HOUR, feed, answer(item("b"), item("a")))]

    assert all(isinstance(each, Updated) for each in decisions)
    assert sorted(await env.titles()) == ["a", "b"]
    assert [line["feed_id"] for line in logged if line["event"] == "filters_not_applied"] == [feed.id] * 2
