"""The first refresh of a feed, and what is kept of it."""

from datetime import timedelta

from sqlalchemy import select

from feedmill.archive.object_keys import parse_raw_body_key
from feedmill.model.refresh import Updated
from feedmill.model.timestamps import to_iso
from feedmill.store.schema import (
    entries,
    feeds,
    fetch_log,
    image_tasks,
    raw_bodies,
    states,
    subscriptions,
    unread,
)
from tests.flows.refresh_environment import DAY, HOUR, NOW, RefreshEnvironment, answer, item, rss
from tests.scripted_web import Answer

TWO_IMAGES = '<p>Hi <img src="/a.png"> and <img src="https://img.example.org/b.png"></p>'


async def test_every_entry_is_stored_once_with_its_images(any_env: RefreshEnvironment) -> None:
    env = any_env
    feed = await env.add("/feed", answer(item("b", TWO_IMAGES, NOW - HOUR), item("a", "plain", NOW - DAY)))

    decision = await env.refresh(feed)

    assert isinstance(decision, Updated)
    rows = await env.rows(entries)
    assert [(row["guid"], row["title"], row["sort_at"]) for row in rows] == [
        ("guid-a", "a", to_iso(NOW - DAY)),
        ("guid-b", "b", to_iso(NOW - HOUR)),
    ]
    tasks = await env.rows(image_tasks)
    assert [(task["entry_id"], task["position"], task["original_url"], task["status"]) for task in tasks] == [
        (rows[1]["id"], 0, "https://example.org/a.png", "pending"),
        (rows[1]["id"], 1, "https://img.example.org/b.png", "pending"),
    ]
    assert rows[1]["content_html"] == TWO_IMAGES


async def test_the_raw_body_is_kept_byte_for_byte(env: RefreshEnvironment) -> None:
    body = rss(item("a"), item("b"))
    feed = await env.add("/feed", Answer(body, headers={"Content-Type": "application/rss+xml"}))

    await env.refresh(feed)

    [raw] = await env.rows(raw_bodies)
    key = parse_raw_body_key(raw["key"])
    assert key is not None
    assert key.feed_id == feed.id
    assert await env.blobs.get(raw["key"]) == body
    assert (raw["size"], raw["parse_result"], raw["entry_count"], raw["new_entries"]) == (len(body), "ok", 2, 2)


async def test_validators_times_facts_and_a_log_line_come_with_the_entries(env: RefreshEnvironment) -> None:
    headers = {"ETag": 'W/"1"', "Last-Modified": "Wed, 18 Feb 2026 08:00:00 GMT"}
    feed = await env.add("/feed", answer(item("a", date=NOW - HOUR), headers=headers, title="News"))

    await env.refresh(feed)

    after = await env.feed(feed)
    assert (after.etag, after.last_modified) == ('W/"1"', "Wed, 18 Feb 2026 08:00:00 GMT")
    assert (after.title, after.site_url, after.entry_count) == ("News", "https://example.org/", 1)
    assert (after.last_fetched_at, after.last_success_at, after.last_entry_at) == (NOW, NOW, NOW - HOUR)
    assert after.next_fetch_at is not None
    assert after.next_fetch_at > NOW
    assert after.claimed_until is None
    [line] = await env.rows(fetch_log)
    assert (line["outcome"], line["http_status"], line["new_entries"], line["at"]) == ("updated", 200, 1, to_iso(NOW))
    assert line["bytes"] > 100


async def test_new_entries_are_unread_for_every_subscriber_and_counted(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a"), item("b")))
    alice, bob = await env.user("Alice", 11), await env.user("Bob", 12)
    await env.user("Charlie", 13)
    for user in (alice, bob):
        await env.subscribe(user, feed)

    await env.refresh(feed)

    ids = [row["id"] for row in await env.rows(entries)]
    listed = sorted((row["list_id"], row["entry_id"]) for row in await env.rows(unread))
    assert listed == [(11, ids[0]), (11, ids[1]), (12, ids[0]), (12, ids[1])]
    assert [row["unread_count"] for row in await env.rows(subscriptions)] == [2, 2]
    assert await env.rows(states) == []


async def test_entries_without_guid_and_link_are_told_apart_and_found_again(env: RefreshEnvironment) -> None:
    items = [item("a", "one", guid=None, link=None), item("b", "two", guid=None, link=None)]
    feed = await env.add("/feed", answer(*items))

    await env.refresh(feed)
    await env.later(HOUR, feed, answer(*items, channel="<ttl>5</ttl>"))

    assert sorted(await env.titles()) == ["a", "b"]
    assert all(row["guid"] for row in await env.rows(entries))


async def test_a_guid_that_repeats_for_different_links_is_two_entries(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a", guid="same"), item("b", guid="same")))

    await env.refresh(feed)

    assert sorted(await env.titles()) == ["a", "b"]


async def test_a_guid_that_begins_to_repeat_does_not_show_an_article_twice(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a", guid="same")))
    await env.refresh(feed)

    await env.later(HOUR, feed, answer(item("b", guid="same"), item("a", guid="same")))
    assert sorted(await env.titles()) == ["a", "b"]

    await env.later(HOUR, feed, answer(item("b", guid="same")))
    assert sorted(await env.titles()) == ["a", "b"]
    assert [row["revision_count"] for row in await env.rows(entries)] == [0, 0]

    await env.later(HOUR, feed, answer(item("b", guid="same"), item("a", guid="same")))
    assert sorted(await env.titles()) == ["a", "b"]


async def test_the_same_entry_twice_in_one_body_is_stored_once(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a"), item("a")))

    await env.refresh(feed)

    assert await env.titles() == ["a"]


async def test_an_entry_from_the_future_sorts_by_when_it_was_first_seen(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("tomorrow", date=NOW + DAY)))

    await env.refresh(feed)

    [entry] = await env.rows(entries)
    assert (entry["sort_at"], entry["published_at"]) == (to_iso(NOW), to_iso(NOW + DAY))
    assert (await env.feed(feed)).last_entry_at == NOW


async def test_an_undated_entry_gets_the_time_of_the_fetch(any_env: RefreshEnvironment) -> None:
    env = any_env
    feed = await env.add("/feed", answer(item("dated", date=NOW - DAY), item("first")))

    await env.refresh(feed)
    await env.later(HOUR, feed, answer(item("second"), item("first"), item("dated", date=NOW - DAY)))

    rows = {row["title"]: row for row in await env.rows(entries)}
    assert {title: (row["published_at"], row["undated"]) for title, row in rows.items()} == {
        "dated": (to_iso(NOW - DAY), 0),
        "first": (to_iso(NOW), 1),
        "second": (to_iso(NOW + HOUR), 1),
    }
    # Of the first fetch below what has dates, later where it was found.
    assert sorted(rows, key=lambda title: rows[title]["sort_at"]) == ["first", "dated", "second"]
    assert rows["second"]["sort_at"] == to_iso(NOW + HOUR)
    assert (await env.feed(feed)).last_entry_at == NOW + HOUR


async def test_a_feed_without_dates_counts_as_fresh(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("undated")))

    await env.refresh(feed)

    assert (await env.feed(feed)).last_entry_at == NOW


async def test_a_feed_that_wants_no_images_has_no_image_tasks(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a", TWO_IMAGES)))
    await env.change(feed, archive_policy="none")

    await env.refresh(feed)

    assert await env.rows(image_tasks) == []
    assert await env.titles() == ["a"]


async def test_a_whole_refresh_is_one_batch_on_all_four_databases(any_env: RefreshEnvironment) -> None:
    """The claim, the claim check, new entries, images, a revision, a drop: and the claim is free afterwards."""
    env = any_env
    alice = await env.user("Alice", 11)
    feed = await env.add("/feed", answer(item("a", TWO_IMAGES), item("b", "old")))
    await env.subscribe(alice, feed)

    await env.refresh(feed)
    await env.later(HOUR, feed, answer(item("c", TWO_IMAGES), item("b", "new")))

    rows = {row["title"]: row for row in await env.rows(entries)}
    assert {title: (row["in_feed"], row["revision_count"]) for title, row in rows.items()} == {
        "a": (0, 0),
        "b": (1, 1),
        "c": (1, 0),
    }
    assert len(await env.rows(image_tasks)) == 4
    assert len(await env.rows(unread)) == 3
    [row] = await env.db.query(select(feeds.c.claim_token, feeds.c.claim_check, feeds.c.entry_count))
    assert tuple(row.values()) == (None, 0, 3)


async def test_a_feed_that_was_never_fetched_is_due_at_once(env: RefreshEnvironment) -> None:
    feed = await env.add("/feed", answer(item("a")))

    assert feed.next_fetch_at == NOW
    await env.refresh(feed)
    after = await env.feed(feed)
    assert after.next_fetch_at is not None
    assert after.next_fetch_at - NOW >= timedelta(minutes=15)
