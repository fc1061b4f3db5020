"""The Miniflux API: shapes, marks, rights and what it refuses."""

from base64 import b64encode
from typing import Any

import pytest

from feedmill.library.entries import sync_entries
from feedmill.store.feeds.add_feeds import add_feed
from tests.library.small_library import SmallLibrary
from tests.scripted_web import Answer
from tests.serve.app_client import app_user
from tests.serve.miniflux.miniflux_app import MinifluxApp
from tests.serve.rest.site import Site

FEED = b"<rss version='2.0'><channel><title>T</title><item><guid>1</guid><title>one</title></item></channel></rss>"


async def test_an_app_signs_in_by_token_or_basic_and_by_nothing_else(site: Site, app: MinifluxApp) -> None:
    basic = b64encode(f"alice:{app.user.password}".encode()).decode()
    client = app.user.client

    by_basic = await client.get("/v1/me", headers={"Authorization": f"Basic {basic}"})
    refused = [
        await client.get("/v1/me"),
        await client.get("/v1/me", headers={"X-Auth-Token": "wrong"}),
        await client.get("/v1/me", headers={"Authorization": "Basic ???"}),
        await client.get("/v1/me", headers={"Authorization": f"Bearer {app.user.password}"}),
    ]

    assert (by_basic.json()["username"], (await app.get("/me"))["id"]) == ("alice", app.user.user.id)
    assert {answer.status_code for answer in refused} == {401}
    assert refused[0].headers["WWW-Authenticate"] == 'Basic realm="Restricted"'
    assert "error_message" in refused[0].json()
    assert (await client.options("/v1/entries")).status_code == 204


async def test_entries_have_the_shape_that_clients_read(library: SmallLibrary, app: MinifluxApp) -> None:
    feed = await library.feed("mills")
    subscription = await library.subscribe(app.user.user, feed, "Mills")
    ids = await library.arrive(feed, "a", "b", content_html="<p>x</p>", link="https://mills.example.org/1")

    page = await app.get("/entries?status=unread&order=id&direction=asc&limit=1")
    [entry] = page["entries"]

    assert (page["total"], entry["id"], entry["feed_id"]) == (2, ids[0], subscription)
    assert (entry["status"], entry["starred"], entry["enclosures"], entry["tags"]) == ("unread", False, [], [])
    assert entry["created_at"].endswith("Z")
    assert entry["feed"]["category"] == {
        "id": 2**31 - 1,
        "title": "No folder",
        "user_id": app.user.user.id,
        "hide_globally": False,
    }
    assert await app.get(f"/entries/{ids[1]}") == await app.get(f"/feeds/{subscription}/entries/{ids[1]}")
    assert (await app.get("/entries?search=zzz"))["total"] == 0
    assert (await app.get("/entries/ids?status=unread"))["entry_ids"] == ids
    assert await app.get("/feeds/counters") == {"reads": {str(subscription): 0}, "unreads": {str(subscription): 2}}


async def test_marks_change_states_once_and_answer_204(library: SmallLibrary, app: MinifluxApp) -> None:
    feed = await library.feed()
    subscription = await library.subscribe(app.user.user, feed)
    a, b, c = await library.arrive(feed, *"abc")

    async def unread() -> list[int]:
        return [entry["id"] for entry in (await app.get("/entries?status=unread&direction=asc"))["entries"]]

    answers = [
        await app.send("PUT", "/entries", {"entry_ids": [a], "status": "read"}),
        await app.send("PUT", f"/entries/{b}/bookmark"),
        await app.send("PUT", "/entries", {"entry_ids": [a, b], "starred": True}),
    ]

    assert [answer.status_code for answer in answers] == [204] * 3
    assert await unread() == [b, c]
    assert (await app.get("/entries?starred=true"))["total"] == 2
    assert (await app.send("PUT", f"/feeds/{subscription}/mark-all-as-read")).status_code == 204
    assert await unread() == []


async def test_categories_are_folders(library: SmallLibrary, app: MinifluxApp) -> None:
    feed = await library.feed()
    subscription = await library.subscribe(app.user.user, feed)
    await library.arrive(feed, "a")

    made = (await app.send("POST", "/categories", {"title": "News"})).json()
    renamed = await app.send("PUT", f"/categories/{made['id']}", {"title": "Papers"})
    moved = await app.send(
        "PUT", f"/feeds/{subscription}", {"title": "Mine", "category_id": made["id"], "crawler": True}
    )
    counted = await app.get("/categories?counts=true")

    assert (renamed.status_code, renamed.json()["title"], moved.status_code) == (201, "Papers", 201)
    assert (moved.json()["title"], moved.json()["category"]["title"]) == ("Mine", "Papers")
    assert [each["id"] for each in await app.get(f"/categories/{made['id']}/feeds")] == [subscription]
    assert [(each["title"], each["total_unread"]) for each in counted] == [("No folder", 0), ("Papers", 1)]
    assert (await app.get(f"/categories/{made['id']}/entries"))["total"] == 1
    assert (await app.send("DELETE", f"/categories/{made['id']}")).status_code == 204
    assert (await app.get(f"/feeds/{subscription}"))["category"]["title"] == "No folder"


async def test_a_feed_is_found_added_and_removed(site: Site, app: MinifluxApp) -> None:
    url = site.web.serve("/feed", Answer(FEED))

    [found] = (await app.send("POST", "/discover", {"url": url})).json()
    added = await app.send("POST", "/feeds", {"feed_url": url})
    again = await app.send("POST", "/feeds", {"feed_url": url})
    feed_id = added.json()["feed_id"]

    assert (found["url"], found["type"], added.status_code, again.status_code) == (url, "rss", 201, 400)
    assert (await app.get(f"/feeds/{feed_id}"))["feed_url"] == url
    assert url in (await app.send("GET", "/export")).text
    assert (await app.send("DELETE", f"/feeds/{feed_id}")).status_code == 204
    assert await app.get("/feeds") == []


# Method, path, body, and the status of the answer.
REFUSED: list[tuple[str, str, Any, int]] = [
    ("GET", "/entries?status=odd", None, 400),
    ("GET", "/entries?order=odd", None, 400),
    ("GET", "/entries?direction=up", None, 400),
    ("GET", "/entries?limit=-1", None, 400),
    ("GET", "/entries?starred=maybe", None, 400),
    ("GET", "/entries?feed_id=999", None, 400),
    ("GET", "/entries?category_id=999", None, 400),
    ("GET", "/entries?globally_visible=perhaps", None, 400),
    ("GET", "/entries?before_entry_id=x", None, 400),
    ("GET", "/entries?changed_after=x", None, 400),
    ("GET", "/entries?" + "&".join(f"tags={number}" for number in range(11)), None, 400),
    ("GET", f"/entries?tags={'x' * 201}", None, 400),
    ("GET", "/entries/ids?limit=x", None, 400),
    ("GET", "/categories?counts=many", None, 400),
    ("GET", "/categories/999/feeds", None, 404),
    ("GET", "/entries/999", None, 404),
    ("GET", "/feeds/999", None, 404),
    ("GET", "/nowhere", None, 404),
    ("PUT", "/entries", {"entry_ids": [], "status": "read"}, 400),
    ("PUT", "/entries", {"entry_ids": [1], "status": "gone"}, 400),
    ("PUT", "/entries", {"entry_ids": ["1"], "status": "read"}, 400),
    ("PUT", "/entries", [1], 400),
    ("PUT", "/entries", {"entry_ids": [1] * 20_001, "status": "read"}, 400),
    ("PUT", "/entries/999", {"title": "x"}, 404),
    ("GET", f"/entries/{10**30}", None, 404),
    ("GET", f"/entries/{10**30}/fetch-content", None, 404),
    ("PUT", f"/entries/{10**30}/star", None, 404),
    ("GET", f"/enclosures/{10**30}", None, 404),
    ("PUT", f"/enclosures/{10**30}", {"media_progression": 1}, 404),
    ("GET", f"/feeds/{10**30}/icon", None, 404),
    ("PUT", f"/users/{10**30}/mark-all-as-read", None, 404),
    ("GET", f"/entries?after_entry_id={10**30}", None, 400),
    ("POST", "/entries/999/save", None, 404),
    ("GET", "/enclosures/99900", None, 404),
    ("PUT", "/enclosures/99900", {"media_progression": 1}, 404),
    ("PUT", "/enclosures/99900", {"media_progression": -1}, 400),
    ("PUT", "/enclosures/99900", {"media_progression": 10**7}, 400),
    ("PUT", "/enclosures/99900", {}, 400),
    ("POST", "/feeds/999/entries/import", {"url": "https://example.org/"}, 404),
    ("POST", "/feeds/999/entries/import", {}, 400),
    ("POST", "/feeds", {"feed_url": "https://example.org/", "category_id": 999}, 400),
    ("POST", "/discover", {"url": "gopher://example.org/"}, 400),
    ("POST", "/categories", {"title": " "}, 400),
    ("POST", "/categories", {"title": "/".join("abcdefghi")}, 400),
    ("POST", "/categories", {"title": "No folder"}, 400),
    ("PUT", f"/categories/{2**31 - 1}", {"title": "x"}, 400),
    ("DELETE", "/categories/999", None, 404),
    ("POST", "/users", {"username": "x", "password": "y"}, 403),
    ("PUT", "/users/1", {"password": "y"}, 403),
    ("DELETE", "/users/1", None, 403),
    ("GET", "/api-keys", None, 403),
    ("POST", "/api-keys", {"description": "x"}, 403),
    ("DELETE", "/api-keys/1", None, 403),
    ("PUT", "/users/999/mark-all-as-read", None, 404),
]


async def test_what_is_not_understood_or_not_allowed_is_said(app: MinifluxApp) -> None:
    answers = [await app.send(method, path, body) for method, path, body, _ in REFUSED]

    told = [(answer.status_code, "error_message" in answer.json()) for answer in answers]
    assert [(*asked, got) for asked, got in zip(REFUSED, told, strict=True) if got != (asked[3], True)] == []


async def test_charlie_gets_and_changes_nothing_of_alices(site: Site, library: SmallLibrary, app: MinifluxApp) -> None:
    charlie = MinifluxApp(await app_user(site, "charlie"))
    feed = await library.feed()
    subscription = await library.subscribe(app.user.user, feed)
    folder = await library.folder(app.user.user, "News", subscription)
    [entry] = await library.arrive(feed, "hers")

    paths = [
        ("GET", f"/entries/{entry}"),
        ("GET", f"/feeds/{subscription}"),
        ("DELETE", f"/feeds/{subscription}"),
        ("PUT", f"/entries/{entry}/bookmark"),
        ("PUT", f"/categories/{folder}/mark-all-as-read"),
        ("DELETE", f"/categories/{folder}"),
        ("GET", f"/users/{app.user.user.id}"),
        ("PUT", f"/users/{app.user.user.id}/mark-all-as-read"),
        ("GET", f"/feeds/{subscription}/icon"),
    ]
    statuses = {(await charlie.send(method, path)).status_code for method, path in paths}
    await charlie.send("PUT", "/entries", {"entry_ids": [entry], "status": "read"})

    assert statuses == {404}
    assert (await charlie.get("/entries"))["total"] == 0
    assert (await app.get("/entries?status=unread"))["total"] == 1


async def test_more_text_than_fits_into_a_response_is_refused(
    library: SmallLibrary, app: MinifluxApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed = await library.feed()
    await library.subscribe(app.user.user, feed)
    for guid in ("a", "b"):
        await library.arrive(feed, guid, content_html="<p>" + "word " * 100)
    monkeypatch.setattr(sync_entries, "MAX_TEXT", 800)

    answers = [await app.send("GET", f"/entries?limit={limit}") for limit in (1, 2)]

    assert [answer.status_code for answer in answers] == [200, 400]


async def test_a_refresh_of_one_feed_answers_after_the_fetch_and_says_why_it_failed(
    site: Site, library: SmallLibrary, app: MinifluxApp
) -> None:
    there, gone = site.web.serve("/feed", Answer(FEED)), site.web.serve("/gone", Answer(b"", status=404))
    good, bad = [
        await library.subscribe(app.user.user, (await add_feed(library.db, url, library.now)).id)
        for url in (there, gone)
    ]

    answers = [await app.send("PUT", f"/feeds/{feed}/refresh") for feed in (good, bad)]

    assert [answer.status_code for answer in answers] == [204, 400]
    assert "404" in answers[1].json()["error_message"]
    assert [entry["title"] for entry in (await app.get(f"/feeds/{good}/entries"))["entries"]] == ["one"]


async def test_a_feed_is_added_without_a_category_or_paused(site: Site, app: MinifluxApp) -> None:
    urls = [site.web.serve(path, Answer(FEED)) for path in ("/one", "/two")]

    bodies = ({"feed_url": urls[0], "category_id": 0}, {"feed_url": urls[1], "disabled": True})
    added = [(await app.send("POST", "/feeds", body)).json()["feed_id"] for body in bodies]

    assert [(await app.get(f"/feeds/{feed}"))["disabled"] for feed in added] == [False, True]
