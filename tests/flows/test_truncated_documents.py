"""A document that ends too early: its complete entries are taken, and the whole is asked for again soon."""

import gzip
import json
from typing import Any

import pytest

from feedmill.i18n.messages import Message, message_from_stored
from feedmill.model.feed import FeedStatus
from feedmill.model.refresh import Failed, Unchanged, Updated
from feedmill.store.schema import entries, fetch_log, raw_bodies, revisions
from tests.flows.refresh_environment import DAY, HOUR, MINUTE, RefreshEnvironment, answer, item, rss
from tests.flows.test_later_refreshes import conditional
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest

WHOLE = rss(item("a", "the text of a"), item("b", "the text of b"), item("c", "the text of c"))
CUT = WHOLE[: WHOLE.index(b"the text of b") + 5]
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><title>A feed</title>'
    b"<entry><id>1</id><title>a</title></entry><entry><id>2</id><title>b</title><content>text</content></entry></feed>"
)
RDF = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">'
    b'<channel><title>A feed</title></channel><item rdf:about="1"><title>a</title><link>https://a.example/1</link></item>'
    b'<item rdf:about="2"><title>b</title><link>https://a.example/2</link></item></rdf:RDF>'
)
JSON = json.dumps(
    {
        "version": "https://jsonfeed.org/version/1",
        "title": "A feed",
        "items": [{"id": "1", "title": "a"}, {"id": "2", "title": "b", "content_text": "text"}],
    }
).encode()


async def test_a_truncated_document_does_not_hide_the_complete_one_behind_a_304(any_env: RefreshEnvironment) -> None:
    env, etag = any_env, '"1"'
    feed = await env.add("/feed", Answer(b"<rss><channel><item>", headers={"ETag": etag}))

    await env.refresh(feed)
    decision = await env.later(HOUR, feed, conditional(WHOLE, etag))

    assert isinstance(decision, Updated)
    assert sorted(await env.titles()) == ["a", "b", "c"]
    after = await env.feed(feed)
    assert (after.etag, after.truncated_count, after.last_error, after.last_error_kind) == (etag, 0, None, None)


@pytest.mark.parametrize(
    ("whole", "last"), [(WHOLE, b"text of b"), (ATOM, b"text"), (RDF, b"a.example/2"), (JSON, b"text")]
)
async def test_the_complete_entries_are_taken_and_the_unfinished_one_comes_with_the_rest(
    env: RefreshEnvironment, whole: bytes, last: bytes
) -> None:
    cut = whole[: whole.rindex(last) + 2]
    feed = await env.add("/feed", Answer(cut, headers={"ETag": '"1"', "Last-Modified": "yesterday"}))

    await env.refresh(feed)

    assert await env.titles() == ["a"]
    after = await env.feed(feed)
    assert (after.etag, after.last_modified, after.truncated_count) == (None, None, 1)
    await env.later(HOUR, feed, Answer(whole))
    assert sorted(await env.titles())[:2] == ["a", "b"]
    assert await env.rows(revisions) == []


async def test_a_truncated_document_is_logged_and_kept(env: RefreshEnvironment, logged: list[Any]) -> None:
    feed = await env.add("/feed", Answer(CUT))

    await env.refresh(feed)

    [line] = await env.rows(fetch_log)
    assert (line["outcome"], line["new_entries"]) == ("incomplete", 1)
    assert message_from_stored(line["message"]) == Message("fetch.truncated")
    [body] = await env.rows(raw_bodies)
    assert (await env.blobs.get(body["key"]), body["parse_result"], body["entry_count"]) == (CUT, "incomplete", 1)
    [said] = [one for one in logged if one["event"] == "feed_truncated"]
    assert (said["log_level"], said["feed_id"], said["complete_entries"], said["times"]) == ("warning", feed.id, 1, 1)


async def test_the_same_truncated_bytes_again_are_still_truncated_and_kept_once(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(CUT))
    await env.refresh(feed)

    decision = await env.later(HOUR, feed)

    assert isinstance(decision, Updated)
    assert decision.truncated
    after = await env.feed(feed)
    assert (after.truncated_count, after.last_error_kind) == (2, "incomplete")
    assert len(await env.rows(raw_bodies)) == 1
    assert [row["outcome"] for row in await env.rows(fetch_log)] == ["incomplete", "incomplete"]


async def test_it_is_asked_for_again_soon_and_then_less_and_less_often(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(CUT, headers={"Cache-Control": "max-age=86400"}))
    waits = []
    for _ in range(8):
        await env.refresh(feed)
        after = await env.feed(feed)
        assert after.next_fetch_at is not None
        waits.append(after.next_fetch_at - env.now)
        env.now = after.next_fetch_at

    assert waits[:4] == [30 * MINUTE, HOUR, 2 * HOUR, 4 * HOUR]
    # No later than a complete document would be.
    assert waits[-1] == DAY
    assert after.next_fetch_why is not None


async def test_a_feed_that_always_ends_too_early_delivers_and_is_no_error(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed")
    for number in range(15):
        await env.later(2 * HOUR, feed, Answer(rss(item(f"new-{number}", "x"), item("cut", "y"))[:-60]))

    after = await env.feed(feed)
    assert (after.status, after.consecutive_failures, after.truncated_count) == (FeedStatus.ACTIVE, 0, 15)
    assert after.entry_count == 15
    assert "cut" not in await env.titles()


async def test_entries_beyond_the_cut_are_not_taken_for_gone(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", Answer(WHOLE))
    await env.refresh(feed)

    await env.later(HOUR, feed, Answer(CUT))

    assert [row["in_feed"] for row in await env.rows(entries)] == [1, 1, 1]
    assert await env.rows(revisions) == []
    assert isinstance(await env.later(HOUR, feed, Answer(WHOLE)), Updated)
    assert isinstance(await env.later(HOUR, feed, Answer(WHOLE)), Unchanged)


async def cut_by_length(seen: ReceivedRequest, wire: ClientConnection) -> None:
    await wire.send(b'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Length: 9999\r\n\r\n' + WHOLE)


async def cut_chunk(seen: ReceivedRequest, wire: ClientConnection) -> None:
    await wire.send(b'HTTP/1.1 200 OK\r\nETag: "1"\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n' + WHOLE[:200])


async def cut_gzip(seen: ReceivedRequest, wire: ClientConnection) -> None:
    packed = gzip.compress(WHOLE)[:-20]
    head = f'HTTP/1.1 200 OK\r\nETag: "1"\r\nContent-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n'
    await wire.send(head.encode() + packed)


@pytest.mark.parametrize("serve", [cut_by_length, cut_chunk, cut_gzip])
async def test_a_body_that_was_cut_on_its_way_is_a_failure_that_is_tried_again(
    env: RefreshEnvironment, serve: Any
) -> None:
    feed = await env.add("/feed", serve)

    decision = await env.refresh(feed)

    assert isinstance(decision, Failed)
    assert (decision.kind, len(env.sleeps)) == ("truncated", 3)
    assert (await env.feed(feed)).etag is None
    await env.later(HOUR, feed, answer(item("a")))
    assert await env.titles() == ["a"]


async def test_a_body_without_a_length_that_ends_too_early_is_truncated(env: RefreshEnvironment) -> None:
    async def serve(seen: ReceivedRequest, wire: ClientConnection) -> None:
        await wire.send(b'HTTP/1.0 200 OK\r\nETag: "1"\r\n\r\n' + CUT)

    feed = await env.add("/feed", serve)

    await env.refresh(feed)

    after = await env.feed(feed)
    assert (after.etag, after.truncated_count, await env.titles()) == (None, 1, ["a"])
