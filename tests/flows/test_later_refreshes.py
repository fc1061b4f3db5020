"""What later refreshes change, and what they must leave alone."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from feedmill.collect.entries.changes import MAX_REVISIONS
from feedmill.errors import NotAFeed
from feedmill.i18n.messages import Message, message_from_stored
from feedmill.model.refresh import Failed, Unchanged, Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.schema import entries, fetch_log, raw_bodies, revisions, states, tombstones, unread
from tests.flows.refresh_environment import DAY, HOUR, MINUTE, NOW, RefreshEnvironment, answer, item, rss
from tests.scripted_web import Answer, ReceivedRequest

BROKEN = Answer(b"<html><body>We are down for maintenance</body></html>", headers={"ETag": '"broken"'})


def conditional(body: bytes, etag: str = '"1"') -> Callable[[ReceivedRequest], Answer]:
    """Serves the body, or a 304 to who has it."""

    def serve(seen: ReceivedRequest) -> Answer:
        if seen.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return Answer(body, headers={"ETag": etag})

    return serve


async def test_a_304_is_a_success_that_moves_the_times_and_resets_failures(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", conditional(rss(item("a"))))
    await env.refresh(feed)
    await env.later(HOUR, feed, Answer(status=404))
    assert (await env.feed(feed)).consecutive_failures == 1

    decision = await env.later(HOUR, feed, conditional(rss(item("a"))))

    after = await env.feed(feed)
    assert isinstance(decision, Unchanged)
    assert (after.last_fetched_at, after.last_success_at) == (env.now, env.now)
    assert (after.consecutive_failures, after.last_error, after.last_error_kind) == (0, None, None)
    assert after.next_fetch_at is not None
    assert after.next_fetch_at > env.now
    assert (after.etag, (await env.rows(fetch_log))[-1]["outcome"]) == ('"1"', "not_modified")


async def test_the_same_bytes_again_are_a_success_and_not_kept_again(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a"), headers={"ETag": '"1"'}))
    await env.refresh(feed)

    decision = await env.later(HOUR, feed, answer(item("a"), headers={"ETag": '"2"'}))

    after = await env.feed(feed)
    assert isinstance(decision, Unchanged)
    assert len(await env.rows(raw_bodies)) == 1
    assert (after.last_success_at, after.etag) == (env.now, '"2"')
    assert (await env.rows(fetch_log))[-1]["outcome"] == "same"


async def test_a_body_that_can_t_be_read_is_kept_and_its_validators_are_not(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a"), headers={"ETag": '"good"'}))
    await env.refresh(feed)

    decision = await env.later(HOUR, feed, BROKEN)

    assert isinstance(decision, Failed)
    assert decision.kind == "not_a_feed"
    after = await env.feed(feed)
    assert (after.etag, after.last_modified, after.consecutive_failures) == (None, None, 1)
    kept = (await env.rows(raw_bodies))[-1]
    assert await env.blobs.get(kept["key"]) == BROKEN.body
    assert "html" in kept["parse_result"]

    await env.later(HOUR, feed)
    assert "if-none-match" not in env.web.requests[-1].headers
    assert len(await env.rows(raw_bodies)) == 2


async def test_after_a_parser_fix_the_same_body_is_read_again(
    env: RefreshEnvironment, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await env.add("/feed", answer(item("a")))
    with monkeypatch.context() as broken:
        broken.setattr("feedmill.collect.refresh.parse_off_loop", _refuse)
        await env.refresh(feed)
    assert await env.titles() == []

    decision = await env.later(HOUR, feed)

    assert isinstance(decision, Updated)
    assert await env.titles() == ["a"]
    assert len(await env.rows(raw_bodies)) == 1


async def test_an_unreadable_body_is_not_taken_for_known_after_a_good_one(env: RefreshEnvironment) -> None:
    good = conditional(rss(item("a")), '"good"')
    feed = await env.add("/feed", good)
    for served in (good, BROKEN, good):
        await env.later(HOUR, feed, served)

    decision = await env.later(HOUR, feed, BROKEN)

    assert isinstance(decision, Failed)


async def test_a_changed_entry_becomes_a_revision_and_read_and_star_stay(env: RefreshEnvironment) -> None:
    alice = await env.user("Alice", 11)
    feed = await env.add("/feed", answer(item("a", "first")))
    await env.subscribe(alice, feed)
    await env.refresh(feed)
    [entry] = await env.rows(entries)
    state = {"user_id": alice, "entry_id": entry["id"], "read_at": to_iso(NOW), "starred_at": to_iso(NOW)}
    await env.put(states, **state)
    await env.db.batch([_mark_read(entry["id"])])

    await env.later(HOUR, feed, answer(item("a", "second")))

    [after] = await env.rows(entries)
    assert (after["content_html"], after["revision_count"]) == ("first", 1)
    [revision] = await env.rows(revisions)
    assert (revision["content_html"], revision["number"], revision["seen_at"]) == ("second", 1, to_iso(env.now))
    assert await env.rows(unread) == []
    [kept] = await env.rows(states)
    assert (kept["read_at"], kept["starred_at"]) == (to_iso(NOW), to_iso(NOW))
    assert (await env.rows(fetch_log))[-1]["revised_entries"] == 1


async def test_content_that_changes_at_each_fetch_is_bounded(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a", "0")))
    await env.refresh(feed)

    for number in range(MAX_REVISIONS + 5):
        await env.later(HOUR, feed, answer(item("a", f"counter {number}")))

    assert len(await env.rows(revisions)) == MAX_REVISIONS


async def test_a_purged_entry_that_is_still_offered_stays_purged(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a")))
    await env.refresh(feed)
    await env.db.batch([Step(entries.delete().where(entries.c.feed_id == feed.id))])
    await env.put(tombstones, feed_id=feed.id, guid="guid-a", purged_at=to_iso(NOW))

    await env.later(HOUR, feed, answer(item("b"), item("a", "changed")))
    await env.later(HOUR, feed, answer(item("a"), item("b")))

    assert await env.titles() == ["b"]


async def test_an_entry_that_leaves_and_returns_is_not_new(env: RefreshEnvironment) -> None:
    alice = await env.user("Alice", 11)
    feed = await env.add("/feed", answer(item("a"), item("b")))
    await env.subscribe(alice, feed)
    await env.refresh(feed)

    await env.later(HOUR, feed, answer(item("b")))
    gone = {row["title"]: row["in_feed"] for row in await env.rows(entries)}
    await env.later(HOUR, feed, answer(item("a"), item("b")))

    assert gone == {"a": 0, "b": 1}
    rows = await env.rows(entries)
    assert {row["title"]: (row["in_feed"], row["revision_count"]) for row in rows} == {"a": (1, 0), "b": (1, 0)}
    assert len(await env.rows(unread)) == 2


async def test_a_feed_that_overflows_says_so_and_is_asked_sooner(env: RefreshEnvironment) -> None:
    first = [item(f"a{number}", date=NOW - HOUR * number * 3) for number in range(1, 6)]
    feed = await env.add("/feed", answer(*first))
    usual = (await env.refresh(feed)).schedule

    second = [item(f"b{number}", date=NOW - HOUR * number * 3) for number in range(1, 6)]
    decision = await env.later(MINUTE, feed, answer(*second))

    assert isinstance(decision, Updated)
    assert decision.changes.overflows
    assert usual.at is not None
    assert decision.schedule.at is not None
    assert decision.schedule.at - env.now < usual.at - NOW
    assert "more than" in str(decision.schedule.why)
    [*_, line] = await env.rows(fetch_log)
    assert message_from_stored(line["message"]) == Message("fetch.overflows")


async def test_a_feed_that_is_empty_for_once_does_not_overflow(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a")))
    await env.refresh(feed)
    empty = await env.later(HOUR, feed, answer())
    back = await env.later(HOUR, feed, answer(item("a")))

    assert isinstance(empty, Updated)
    assert not empty.changes.overflows
    assert isinstance(back, Updated)
    assert not back.changes.overflows
    assert await env.titles() == ["a"]


async def test_validators_are_sent_back_as_they_came(env: RefreshEnvironment) -> None:
    headers = {"ETag": 'W/"odd, one"', "Last-Modified": "yesterday"}
    feed = await env.add("/feed", answer(item("a"), headers=headers))
    await env.refresh(feed)

    await env.later(HOUR, feed)

    asked = env.web.requests[-1].headers
    assert (asked["if-none-match"], asked["if-modified-since"]) == ('W/"odd, one"', "yesterday")


async def test_an_unreadable_date_is_logged_with_feed_and_title(
    env: RefreshEnvironment, logged: list[dict[str, object]]
) -> None:
    odd = item("a").replace("</item>", "<pubDate>on a rainy day</pubDate></item>")
    feed = await env.add("/feed", answer(odd))

    await env.refresh(feed)
    await env.later(HOUR, feed, answer(odd, channel="<ttl>5</ttl>"))

    [line] = [line for line in logged if "on a rainy day" in str(line)]
    assert (line["event"], line["feed_url"], line["title"]) == ("entry_date_unreadable", feed.url, "a")


async def test_what_a_feed_stops_saying_of_itself_is_kept(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a"), title="News"))
    await env.refresh(feed)

    await env.later(DAY, feed, Answer(b"<rss><channel><item><guid>x</guid></item></channel></rss>"))

    assert (await env.feed(feed)).title == "News"


async def test_a_date_long_ago_or_far_ahead_is_kept_in_order(env: RefreshEnvironment) -> None:
    past, future = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
    feed = await env.add("/feed", answer(item("past", date=past), item("future", date=future)))

    decision = await env.refresh(feed)

    assert isinstance(decision, Updated)
    assert sorted(await env.titles()) == ["future", "past"]


async def _refuse(*args: object, **kw: object) -> None:
    raise NotAFeed("something new")


def _mark_read(entry_id: int) -> Step:
    return Step(unread.delete().where(unread.c.entry_id == entry_id))
