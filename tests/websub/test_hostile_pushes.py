"""Forged, repeated, misdirected and oversized pushes change nothing."""

import asyncio
import hmac
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from feedmill.collect.hub_links import MAX_HEADER, find_hub, links_by_relation
from feedmill.model.feed import Feed
from feedmill.model.fetch_outcome import Freshness, Response, Validators
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.schema import entries, feeds, hub_pushes, raw_bodies, revisions
from tests.flows.refresh_environment import NOW
from tests.scripted_web import Answer
from tests.waiting import until
from tests.websub.hub import Subscriber
from tests.websub.pushed_site import PushedSite, feed_with_hub

HUB, SELF = "https://hub.example/", "https://feeds.example.org/feed"


async def test_a_forged_push_changes_nothing_and_is_answered_like_a_genuine_one(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    before = await _state(pushed)
    body = pushed.body("forged")
    genuine = hmac.digest(subscriber.secret.encode(), body, "sha256").hex()
    signatures = [
        f"sha256={'0' * 64}",
        f"sha256={genuine[:-1]}",
        f"md5={hmac.digest(subscriber.secret.encode(), body, 'md5').hex()}",
        f"sha1={genuine}",
        genuine,
        "sha256=",
        "=",
        "sha256=é" + genuine,
        "x" * 5000,
    ]

    replies = [
        await _push(pushed, subscriber, body, algorithm="", headers={"X-Hub-Signature": each.encode("latin-1")})
        for each in signatures
    ]
    unsigned = await _push(pushed, subscriber, body, algorithm="")
    other_secret = await _push(pushed, subscriber, body, secret="guessed")

    assert {reply.status for reply in (*replies, unsigned, other_secret)} == {202}
    assert await _state(pushed) == before


async def test_a_repeated_push_changes_nothing_not_even_an_older_one(pushed: PushedSite) -> None:
    """An older text would look like a change of the entry."""
    subscriber = await pushed.subscribe()
    first = pushed.body("new", "old", new="first text")
    await _push(pushed, subscriber, first)
    await pushed.until_used()
    await pushed.publish("new", "old", new="second text")
    before, objects = await _state(pushed), await _object_keys(pushed)

    replies = [await _push(pushed, subscriber, first) for _ in range(3)]

    assert [reply.status for reply in replies] == [202, 202, 202]
    assert (await _state(pushed), await _object_keys(pushed)) == (before, objects)
    assert [row["content_html"] for row in await pushed.rows(revisions)] == ["second text"]


async def test_what_is_signed_for_one_feed_does_not_count_for_another(pushed: PushedSite) -> None:
    site = pushed.site
    other_topic = site.web.serve("/other", Answer(b""))
    site.web.serve("/other", Answer(feed_with_hub(pushed.hub.url, other_topic, "other")))
    await add_feed(site.app.db, other_topic, pushed.now)
    first = await pushed.subscribe()
    pushed.feed, own = (await pushed.stored()), pushed.feed
    [_, other] = await pushed.rows(feeds)
    pushed.feed = Feed(other["id"], other["url"], own.created_at)
    await pushed.fetch()
    await pushed.ask_hubs()
    second = await asyncio.to_thread(pushed.hub.subscriber, other_topic)
    before = await _state(pushed)

    crossed = Subscriber(first.topic, second.callback, first.secret, first.lease_seconds)
    reply = await _push(pushed, crossed, pushed.body("crossed"))

    assert reply.status == 202
    assert await _state(pushed) == before
    assert first.callback != second.callback


async def test_a_link_header_cannot_send_a_push_to_another_feed(pushed: PushedSite) -> None:
    """Headers are not signed."""
    subscriber = await pushed.subscribe()

    link = {"Link": '<https://other.example/feed>; rel="self"'}
    await _push(pushed, subscriber, pushed.body("new", "old"), headers=link)
    await pushed.until_used()

    assert [row["feed_id"] for row in await pushed.rows(entries)] == [pushed.feed.id] * 2


async def test_a_push_that_is_too_large_is_refused(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    limit = pushed.site.app.settings.max_feed_bytes
    before = await _state(pushed)

    reply = await _push_or_cut(pushed, subscriber, b"x" * (limit + 1))

    assert reply in (413, None)
    assert await _state(pushed) == before


async def test_a_compressed_push_is_refused(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()

    reply = await _push(pushed, subscriber, b"bomb", headers={"Content-Encoding": "gzip"})

    assert reply.status == 415


async def test_too_many_pushes_have_to_wait(pushed: PushedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("feedmill.library.hubs.receive_push.MAX_PUSHES_PER_HOUR", 2)
    subscriber = await pushed.subscribe()

    replies = [await _push(pushed, subscriber, pushed.body(f"new {number}")) for number in range(4)]
    await pushed.until_used()

    assert [reply.status for reply in replies] == [202, 202, 429, 429]
    assert replies[2].headers["retry-after"] == "600"
    assert len(await pushed.rows(hub_pushes)) == 2


async def test_an_unknown_callback_is_gone(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    unknown = Subscriber(subscriber.topic, f"{pushed.origin}/websub/{'A' * 43}", "x", 1)

    reply = await _push(pushed, unknown, pushed.body("new"))

    assert reply.status == 410


async def test_many_pushes_at_once_are_each_used_once(pushed: PushedSite) -> None:
    subscriber = await pushed.subscribe()
    names = [f"new {number}" for number in range(12)]

    # Threads of their own: those of the event loop are the server's.
    with ThreadPoolExecutor(24) as hubs:
        loop, bodies = asyncio.get_running_loop(), [pushed.body(name) for name in names for _ in range(2)]
        await asyncio.gather(*(loop.run_in_executor(hubs, pushed.hub.push, subscriber, body) for body in bodies))
    await until(lambda: _use_all(pushed), otherwise="not all pushes were used")

    assert sorted(await pushed.titles()) == sorted([*names, "old"])


# --- which hub a feed may name --------------------------------------------------------------------------------


def _found(feed_url: str, link: str = "", hub: str | None = None, own: str | None = None, final: str = "") -> Any:
    final_url = final or feed_url
    response = Response(
        feed_url, final_url, 200, {"link": link}, b"", "", Validators(), Freshness(), None, True, 0, NOW, NOW - NOW
    )
    return find_hub(Feed(1, feed_url, NOW), response, ParsedFeed(hub_url=hub, self_url=own))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"hub": HUB, "own": SELF}, (HUB, SELF)),
        ({"hub": HUB}, (HUB, SELF)),
        ({"link": f"<{HUB}>; rel=hub, <{SELF}>; rel=self"}, (HUB, SELF)),
        ({"link": f'<{HUB}>;REL="hub nofollow"; x=1,</feed>; rel="self"'}, (HUB, SELF)),
        ({"link": f"<{HUB}>; rel=hub", "hub": "https://second.example/", "own": SELF}, (HUB, SELF)),
        # The address of another site is not its own.
        ({"hub": HUB, "own": "https://victim.example/feed"}, None),
        ({"hub": HUB, "own": "https://www.example.org/feed"}, (HUB, "https://www.example.org/feed")),
        (
            {"hub": HUB, "own": "https://cdn.example/f", "final": "https://cdn.example/f"},
            (HUB, "https://cdn.example/f"),
        ),
        ({"hub": "javascript:alert(1)", "own": SELF}, None),
        ({"hub": HUB + "x" * 3000, "own": SELF}, None),
        ({"hub": "http://pubsubhubbub.appspot.com/", "own": SELF}, ("https://pubsubhubbub.appspot.com/", SELF)),
        ({}, None),
    ],
)
def test_the_hub_and_the_topic_of_a_feed(given: dict[str, str], expected: tuple[str, str] | None) -> None:
    assert _found(SELF, **given) == expected


def test_youtube_has_a_hub_though_its_feeds_do_not_say_so() -> None:
    found = _found("https://www.youtube.com/feeds/videos.xml?channel_id=UC_x-1")

    assert found == (
        "https://pubsubhubbub.appspot.com/",
        "https://www.youtube.com/xml/feeds/videos.xml?channel_id=UC_x-1",
    )
    assert _found("https://www.youtube.com/feeds/videos.xml?playlist_id=PL1") is None
    assert _found("https://www.youtube.com.evil.example/feeds/videos.xml?channel_id=UC1") is None


def test_a_private_feed_has_no_hub() -> None:
    assert _found(f"{SELF}#user=1", hub=HUB, own=SELF) is None


def test_a_header_is_read_up_to_its_limit() -> None:
    header = f"<{HUB}>; rel=hub, " + "<" * MAX_HEADER + f"<{SELF}>; rel=self"

    assert links_by_relation(header, SELF) == {"hub": HUB}


async def _use_all(pushed: PushedSite) -> bool:
    """What the loop does that uses pushes; whether nothing is left."""
    pushed.later(timedelta(seconds=2))
    await pushed.site.app.push_user.use()
    return all(row["next_attempt_at"] is None for row in await pushed.rows(hub_pushes))


async def _object_keys(pushed: PushedSite) -> list[str]:
    # A key has the time of its arrival, which must not be that of the first push.
    pushed.later(timedelta(seconds=1))
    return sorted([blob.key async for blob in pushed.site.app.blobs.list_keys("backups/")])


async def _state(pushed: PushedSite) -> list[Any]:
    return [await pushed.rows(table) for table in (feeds, entries, revisions, raw_bodies, hub_pushes)]


async def _push(pushed: PushedSite, to: Subscriber, body: bytes, **how: Any) -> Any:
    return await asyncio.to_thread(pushed.hub.push, to, body, **how)


async def _push_or_cut(pushed: PushedSite, to: Subscriber, body: bytes) -> int | None:
    """The status, or None if the server closed the connection while it was sent."""
    try:
        reply = await _push(pushed, to, body)
    except OSError:
        return None
    return int(reply.status)
