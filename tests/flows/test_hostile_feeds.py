"""What no feed should say, and some do: it is stored or cut, and the feed goes on."""

import json
from typing import Any

import pytest

from feedmill.model.refresh import Updated
from feedmill.store.schema import entries, revisions
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.scripted_web import Answer

ODD = "a\u0000b\ud800c"
CLEAN = {"abc", "ab\ufffdc"}
DEEP = "\u6df1"


def json_feed(*items: dict[str, Any], **more: Any) -> Answer:
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": list(items), **more}
    return Answer(json.dumps(feed).encode(), headers={"Content-Type": "application/feed+json"})


def everywhere(text: str) -> dict[str, Any]:
    """An item that has the text in each of its fields."""
    names = ("id", "url", "title", "content_html", "summary", "image", "language", "date_published")
    attachment = {"url": f"https://example.org/{text}", "mime_type": text, "size_in_bytes": 1}
    lists = {"tags": [text], "authors": [{"name": text}], "attachments": [attachment]}
    return dict.fromkeys(names, text) | lists


def about(text: str) -> dict[str, Any]:
    names = ("title", "description", "home_page_url", "favicon", "icon", "language")
    return dict.fromkeys(names, text) | {"hubs": [{"type": "x", "url": text}]}


async def test_nul_and_half_characters_are_left_out_everywhere(any_env: RefreshEnvironment) -> None:
    feed = await any_env.add("/feed", json_feed(everywhere(ODD), **about(ODD)))

    decision = await any_env.refresh(feed)

    assert isinstance(decision, Updated)
    [entry] = await any_env.rows(entries)
    assert {entry["title"], entry["content_html"]} <= CLEAN
    assert (await any_env.feed(feed)).title in CLEAN


async def test_nothing_is_too_long_in_any_field(any_env: RefreshEnvironment) -> None:
    long = DEEP * 30_000
    feed = await any_env.add("/feed", json_feed(everywhere(long), **about(long)))

    decision = await any_env.refresh(feed)

    assert isinstance(decision, Updated)
    [entry] = await any_env.rows(entries)
    assert entry["content_html"] == long
    assert len(entry["guid"]) <= 512


async def test_three_megabytes_of_content_are_cut_to_what_every_database_keeps(any_env: RefreshEnvironment) -> None:
    huge = DEEP * 1_000_000
    feed = await any_env.add("/feed", json_feed({"id": "1", "content_html": huge, "summary": huge + "!"}))

    first = await any_env.refresh(feed)
    again = await any_env.later(HOUR, feed, json_feed({"id": "1", "content_html": f"!{huge}", "summary": huge}))

    assert isinstance(first, Updated)
    assert isinstance(again, Updated)
    [entry] = await any_env.rows(entries)
    assert huge.startswith(entry["content_html"])
    assert 900_000 < len(entry["content_html"].encode()) <= 1_000_000
    assert len(await any_env.rows(revisions)) == 1


async def test_content_that_did_not_change_is_no_revision_even_when_it_was_cut(env: RefreshEnvironment) -> None:
    odd = {"id": "1", "content_html": f"{DEEP * 500_000}{ODD}", "title": ODD}
    feed = await env.add("/feed", json_feed(odd))

    await env.refresh(feed)
    await env.later(HOUR, feed, json_feed(odd, {"id": "2", "title": "new"}))

    assert await env.rows(revisions) == []


@pytest.mark.parametrize("header", ["ETag", "Last-Modified"])
async def test_a_monstrous_validator_is_not_kept_and_harms_nothing(env: RefreshEnvironment, header: str) -> None:
    feed = await env.add("/feed", answer(item("a"), headers={header: f'"{"x" * 100_000}"'}))

    decision = await env.refresh(feed)
    again = await env.later(HOUR, feed, answer(item("b"), item("a"), headers={header: f'"{"y" * 100_000}"'}))

    assert isinstance(decision, Updated)
    assert isinstance(again, Updated)
    after = await env.feed(feed)
    assert (after.etag, after.last_modified) == (None, None)


async def test_guids_that_only_spaces_tell_apart_harm_nothing(any_env: RefreshEnvironment) -> None:
    items = [{"id": guid, "title": str(number)} for number, guid in enumerate(("x", "x ", " x", "x\u0000 ", "X"))]
    feed = await any_env.add("/feed", json_feed(*items))

    decision = await any_env.refresh(feed)

    assert isinstance(decision, Updated)
    assert sorted(row["guid"] for row in await any_env.rows(entries)) == ["X", "x"]


async def test_thousands_of_entries_tags_and_attachments_are_bounded(env: RefreshEnvironment) -> None:
    attachments = [{"url": f"https://example.org/{number}/{'x' * 3000}"} for number in range(500)]
    monster = {"id": "m", "tags": [f"{number}{DEEP * 900}" for number in range(90)], "attachments": attachments}
    feed = await env.add("/feed", json_feed(monster, *({"id": str(number)} for number in range(3000))))

    decision = await env.refresh(feed)

    assert isinstance(decision, Updated)
    rows = await env.rows(entries)
    assert len(rows) == 3001
    biggest = max(len((row["categories"] or "").encode()) + len((row["enclosures"] or "").encode()) for row in rows)
    assert biggest < 200_000
