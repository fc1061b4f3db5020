"""Subscriptions at hubs: confirmed only if we asked for them, renewed, denied, ended, and never left to chance."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from feedmill.library.hubs.callbacks import hub_reachable_site
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.settings import load_settings
from feedmill.store.database import Step
from feedmill.store.schema import feeds, hub_subscriptions
from tests.library.webhooks.webhook_setup import open_client
from tests.waiting import until
from tests.websub.hub import WebSubHub, running_hub
from tests.websub.pushed_site import PushedSite, pushed_site

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)


async def test_a_lease_is_renewed_before_it_ends_with_a_new_secret(pushed: PushedSite) -> None:
    first = await pushed.subscribe()
    [row] = await pushed.rows(hub_subscriptions)
    pushed.now = from_iso(row["next_attempt_at"])

    await pushed.ask_hubs()
    await _until_requests(pushed.hub, 2)
    await until(lambda: _has_lease_beyond(pushed, row["lease_until"]), otherwise="the lease was not renewed")

    assert from_iso(row["lease_until"]) - pushed.now == 2.5 * DAY
    second = pushed.hub.requests[1]
    assert (second["hub.callback"], second["hub.topic"]) == (first.callback, first.topic)
    assert second["hub.secret"] != first.secret
    # A push that was under way when the secret changed still counts, and one with the new secret.
    await asyncio.to_thread(pushed.hub.push, first, pushed.body("one"), secret=first.secret)
    await asyncio.to_thread(pushed.hub.push, first, pushed.body("two"), secret=second["hub.secret"])
    await pushed.until_used()
    assert sorted(await pushed.titles()) == ["old", "one", "two"]


async def test_a_lease_that_ends_brings_polling_back_at_once_and_says_why(pushed: PushedSite) -> None:
    await pushed.subscribe()
    await pushed.publish("new", "old")
    pushed.hub.verifies = False
    [row] = await pushed.rows(hub_subscriptions)

    pushed.now = from_iso(row["lease_until"]) + MINUTE
    await pushed.ask_hubs()
    feed = await pushed.stored()

    assert (feed.next_fetch_at, feed.pushed_until) == (from_iso(to_iso(pushed.now)), None)
    assert str(feed.next_fetch_why).startswith(
        "at once, because a hub no longer pushes: the lease at the hub has ended"
    )


async def test_a_fetch_after_the_end_of_the_lease_is_scheduled_as_before(pushed: PushedSite) -> None:
    """Also if nobody asked the hub meanwhile."""
    await pushed.subscribe()
    await pushed.publish("new", "old")
    pushed.later(30 * DAY)

    await pushed.fetch()

    assert str((await pushed.stored()).next_fetch_why).endswith("; the lease at its hub has ended")


async def test_a_hub_may_deny_at_any_time(pushed: PushedSite) -> None:
    await pushed.subscribe()
    await pushed.publish("new", "old")

    reply = await asyncio.to_thread(pushed.hub.deny, pushed.hub.requests[0], "spam")
    feed, [row] = await pushed.stored(), await pushed.rows(hub_subscriptions)

    assert reply.status == 200
    assert feed.pushed_until is None
    assert str(feed.next_fetch_why) == (
        "at once, because a hub no longer pushes: 127.0.0.1 denied the subscription: spam"
    )
    assert row["lease_until"] is None
    assert from_iso(row["next_attempt_at"]) - pushed.now == 7 * DAY
    assert await pushed.ask_hubs() == 0


async def test_nobody_reads_so_it_is_ended_at_the_hub(pushed: PushedSite) -> None:
    await pushed.subscribe()
    await pushed.change(next_fetch_at=None)

    await pushed.ask_hubs()
    await until(lambda: not pushed.hub.subscribers, otherwise="it was not ended")
    await until(lambda: _is_empty(pushed), otherwise="the row was not deleted")

    assert [request["hub.mode"] for request in pushed.hub.requests] == ["subscribe", "unsubscribe"]
    callback = pushed.hub.requests[0]["hub.callback"]
    reply = await asyncio.to_thread(pushed.hub.ask, callback, {})
    assert reply.status == 404


async def test_a_deleted_feed_is_ended_at_the_hub(pushed: PushedSite) -> None:
    confirmed = await pushed.subscribe()
    pushed.hub.verifies = False
    await pushed.site.app.db.batch([Step(feeds.delete().where(feeds.c.id == pushed.feed.id))])

    await pushed.ask_hubs()
    reply = await asyncio.to_thread(pushed.hub.push, confirmed, pushed.body("late"))
    for _ in range(3):
        pushed.later(2 * DAY)
        await pushed.ask_hubs()

    assert reply.status == 410
    assert await pushed.rows(hub_subscriptions) == []


async def test_a_feed_that_is_read_again_is_subscribed_again(pushed: PushedSite) -> None:
    await pushed.subscribe()
    pushed.hub.verifies = False
    await pushed.change(next_fetch_at=None)
    await pushed.ask_hubs()
    await pushed.change(next_fetch_at=to_iso(pushed.now))
    pushed.hub.verifies = True

    await pushed.ask_hubs()
    await _until_requests(pushed.hub, 3)

    assert [request["hub.mode"] for request in pushed.hub.requests] == ["subscribe", "unsubscribe", "subscribe"]
    assert len(await pushed.rows(hub_subscriptions)) == 1


async def test_another_topic_is_another_subscription(pushed: PushedSite) -> None:
    await pushed.subscribe()
    other = pushed.site.web.url("/feed?new")
    await pushed.change(topic_url=other)

    await pushed.ask_hubs()
    await asyncio.to_thread(pushed.hub.subscriber, other)
    await until(lambda: len(pushed.hub.subscribers) == 1, otherwise="the former one was not ended")

    assert {topic for topic, _ in pushed.hub.subscribers} == {other}


async def test_only_what_we_asked_for_is_confirmed(pushed: PushedSite) -> None:
    pushed.hub.verifies = False
    await pushed.ask_hubs()
    await _until_requests(pushed.hub, 1)
    [sent] = pushed.hub.requests
    wrong = [
        {"hub.topic": "https://other.example/"},
        {"hub.mode": "unsubscribe"},
        {"hub.mode": "nonsense"},
        {"hub.challenge": ""},
        {"hub.challenge": "x" * 1001},
        {"hub.challenge": "a\x00b"},
        {"hub.challenge": "<script>\u202e"},
        {"hub.lease_seconds": "5"},
        {"hub.lease_seconds": "-1"},
        {"hub.lease_seconds": "9" * 400},
        {"hub.lease_seconds": "١٢٣٤٥٦٧"},
    ]

    refused = [await asyncio.to_thread(pushed.hub.verify, sent, **each) for each in wrong]
    unknown = await asyncio.to_thread(pushed.hub.ask, f"{pushed.origin}/websub/{'A' * 43}", {"hub.mode": "subscribe"})
    [before] = await pushed.rows(hub_subscriptions)
    confirmed = [await asyncio.to_thread(pushed.hub.verify, sent) for _ in range(2)]
    [after] = await pushed.rows(hub_subscriptions)

    assert [reply.status for reply in (*refused, unknown)] == [404] * 12
    assert (before["lease_until"], before["secret"]) == (None, None)
    # A hub may ask again whether the subscription is still wanted.
    assert [reply.status for reply in confirmed] == [200, 200]
    assert after["secret"] == sent["hub.secret"]


async def test_a_very_long_lease_is_renewed_after_a_month_at_most(pushed: PushedSite) -> None:
    pushed.hub.lease_seconds = 10**11
    await pushed.subscribe()

    [row] = await pushed.rows(hub_subscriptions)

    assert from_iso(row["lease_until"]) - pushed.now == 30 * DAY


async def test_a_hub_that_fails_or_never_confirms_is_asked_ever_more_rarely(pushed: PushedSite) -> None:
    pushed.hub.status = 500
    waits = []
    for number in range(10):
        if number == 3:
            pushed.hub.status, pushed.hub.verifies = 202, False
        assert await pushed.ask_hubs() == 1
        [row] = await pushed.rows(hub_subscriptions)
        waits.append((from_iso(row["next_attempt_at"]) - pushed.now) / MINUTE)
        pushed.now = from_iso(row["next_attempt_at"])

    assert waits == [10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440]
    assert "does not confirm them" in row["last_error"] or "not_confirmed" in row["last_error"]


async def test_the_same_secret_is_asked_for_until_it_is_confirmed(pushed: PushedSite) -> None:
    """The hub may confirm either of two requests."""
    pushed.hub.verifies = False
    await pushed.ask_hubs()
    pushed.later(HOUR)
    await pushed.ask_hubs()
    await _until_requests(pushed.hub, 2)

    first, second = pushed.hub.requests

    assert first["hub.secret"] == second["hub.secret"]


@pytest.mark.parametrize("status", [307, 308])
async def test_a_hub_may_lead_to_another_hub(pushed: PushedSite, status: int) -> None:
    with running_hub() as other:
        pushed.hub.redirect_to, pushed.hub.redirect_status = other.url, status

        await pushed.ask_hubs()
        confirmed = await asyncio.to_thread(other.subscriber, pushed.topic)

    assert pushed.hub.requests == []
    assert confirmed.secret == other.requests[0]["hub.secret"]


@pytest.mark.parametrize("status", [301, 302, 303])
async def test_other_redirects_are_not_followed(pushed: PushedSite, status: int) -> None:
    with running_hub() as other:
        pushed.hub.redirect_to, pushed.hub.redirect_status = other.url, status

        await pushed.ask_hubs()

    assert other.requests == []


async def test_a_hub_that_leads_to_a_private_address_is_refused(pushed: PushedSite) -> None:
    """The first hub may be reached, the address that it leads to may not."""
    with running_hub() as inside:
        pushed.hub.redirect_to = inside.url.replace("127.0.0.1", "127.0.0.2")
        async with open_client(AddressPolicy(["127.0.0.1/32"])) as client:
            subscriber = pushed.site.app.hub_subscriber
            subscriber.tools = replace(subscriber.tools, client=client)
            await pushed.ask_hubs()

    [row] = await pushed.rows(hub_subscriptions)
    assert inside.requests == []
    assert "private" in row["last_error"]


async def test_a_process_that_dies_while_it_asks_leaves_it_to_the_next(pushed: PushedSite) -> None:
    pushed.hub.verifies = False
    await pushed.ask_hubs()
    # As after a kill between the request and the record of its answer.
    lease = {"claim_token": "dead", "next_attempt_at": to_iso(pushed.now + 3 * MINUTE)}
    await pushed.site.app.db.batch([Step(hub_subscriptions.update().values(lease))])
    too_early = await pushed.ask_hubs()
    pushed.later(4 * MINUTE)
    pushed.hub.verifies = True

    asked = await pushed.ask_hubs()
    await asyncio.to_thread(pushed.hub.subscriber, pushed.topic)

    assert (too_early, asked) == (0, 1)


async def test_without_a_reachable_address_or_when_turned_off_no_hub_is_asked(tmp_path: Path, hub: WebSubHub) -> None:
    async with pushed_site(tmp_path, hub, websub=False) as pushed:
        await pushed.prepare("old")

        assert await pushed.ask_hubs() == 0
        assert hub.requests == []


@pytest.mark.parametrize(
    ("public_url", "allowed", "reachable"),
    [
        ("", "", False),
        ("https://feeds.example.org", "", True),
        ("http://localhost:8000", "", False),
        ("http://mill.local", "", False),
        ("http://127.0.0.1:8000", "", False),
        ("http://127.0.0.1:8000", "127.0.0.0/8", True),
        ("http://10.0.0.5", "", False),
        ("http://[::1]:8000", "", False),
        ("http://8.8.8.8", "", True),
    ],
)
def test_which_addresses_a_hub_can_reach(public_url: str, allowed: str, reachable: bool) -> None:
    settings = load_settings(public_url=public_url, allow_private=allowed)

    assert bool(hub_reachable_site(settings)) is reachable


async def _has_lease_beyond(pushed: PushedSite, before: str) -> bool:
    [row] = await pushed.rows(hub_subscriptions)
    return bool(row["lease_until"] > before)


async def _is_empty(pushed: PushedSite) -> bool:
    return not await pushed.rows(hub_subscriptions)


async def _until_requests(hub: WebSubHub, count: int) -> None:
    await until(lambda: len(hub.requests) >= count, otherwise="the hub was not asked")
