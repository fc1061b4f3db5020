"""Webhooks report what filters match, and do not report what they hide, on every database."""

from dataclasses import replace
from typing import Any

import msgspec

from feedmill.library.filters.manage_filters import create_filter
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.webhooks.service import Webhooks
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.user import SCOPES, Caller, User
from feedmill.model.webhook import WebhookEvent
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer

OK = Answer(status=200)


async def _reader(env: RefreshEnvironment, subscribers: Subscribers, name: str, actions: FilterActions) -> User:
    """A reader with a filter for kilns and a webhook for all entries."""
    user = await subscribers.person(name)
    draft = FilterDraft("All about kilns", "kilns", actions=actions)
    await create_filter(env.db, Caller(user, frozenset(SCOPES)), draft, env.now)
    events = [WebhookEvent.NEW_ENTRIES, WebhookEvent.MATCHED_ENTRIES]
    await _webhooks(env).create(user.id, env.web.serve(f"/{name}", OK), events)
    return user


def _webhooks(env: RefreshEnvironment) -> Webhooks:
    return Webhooks(OutboundTools(env.db, env.client, lambda: env.now))


def _received(env: RefreshEnvironment, name: str) -> list[tuple[str, list[str], Any]]:
    """The events at a webhook with the titles of their entries and the filter of the first."""
    bodies = [msgspec.json.decode(seen.body) for seen in env.web.requests if seen.path == f"/{name}"]
    return sorted(
        (body["event"], sorted(entry["title"] for entry in body["entries"]), body["entries"][0].get("filter"))
        for body in bodies
    )


async def test_webhooks_report_what_a_filter_notifies_of_and_leave_out_what_it_hides(
    any_env: RefreshEnvironment,
) -> None:
    env, subscribers = any_env, Subscribers(any_env).with_filters()
    alice = await _reader(env, subscribers, "alice", FilterActions(notify=True))
    bob = await _reader(env, subscribers, "bob", FilterActions(hide=True))
    url = env.web.serve("/feed", answer(item("first")))
    mine = (await subscribers.subscribe(alice, url)).subscription
    await subscribers.subscribe(bob, url)
    writers = replace(env.tools.writers, webhooks=_webhooks(env).webhook_writes)
    env.tools = replace(env.tools, writers=writers)

    await env.later(HOUR, await subscribers.feed(mine), answer(item("kilns"), item("other")))
    await _webhooks(env).deliver()

    matched, new = _received(env, "alice")
    assert matched[:2] == ("entries.matched", ["kilns"])
    assert matched[2]["name"] == "All about kilns"
    assert new == ("entries.new", ["kilns", "other"], None)
    assert _received(env, "bob") == [("entries.new", ["other"], None)]


async def test_a_filter_notifies_also_of_a_feed_whose_other_entries_are_not_notified(
    any_env: RefreshEnvironment,
) -> None:
    env, subscribers = any_env, Subscribers(any_env).with_filters()
    alice = await _reader(env, subscribers, "alice", FilterActions(notify=True))
    url = env.web.serve("/feed", answer(item("first")))
    mine = (await subscribers.subscribe(alice, url)).subscription
    await subscribers.settle(alice, mine, notify=False)
    writers = replace(env.tools.writers, webhooks=_webhooks(env).webhook_writes)
    env.tools = replace(env.tools, writers=writers)

    await env.later(HOUR, await subscribers.feed(mine), answer(item("kilns"), item("other")))
    await _webhooks(env).deliver()

    assert [event for event, *_ in _received(env, "alice")] == ["entries.matched"]
