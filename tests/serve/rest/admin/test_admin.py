"""What an admin sees and does: accounts, feeds, the queue, storage usage and the audit log."""

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from feedmill.model.timestamps import to_iso
from feedmill.outbound.encrypted_options import ENCRYPTION_PURPOSE, encrypt_options
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import NewFeed, add_feed, add_feeds
from feedmill.store.feeds.read_feeds import feed_of_url, feeds_of_ids
from feedmill.store.schema import entries, feeds, fetch_log, image_tasks, raw_bodies, subscriptions
from tests.flows.refresh_environment import NOW
from tests.serve.rest.site import Person, Site

URL = "https://example.org/feed"
DORA = {"name": "Dora", "password": "battery staple"}


async def names(alice: Person, **params: Any) -> tuple[list[str], str | None]:
    page = (await alice.get("/admin/users", params=params)).json()
    return [user["name"] for user in page["items"]], page["next"]


async def audit(alice: Person) -> list[tuple[str, str, str]]:
    return [
        (deed["user_name"], deed["action"], deed["subject"])
        for deed in (await alice.get("/admin/audit")).json()["items"]
    ]


async def test_accounts_are_listed_page_by_page(site: Site, alice: Person, bob: Person, charlie: Person) -> None:
    first, cursor = await names(alice, limit=2)
    second, end = await names(alice, limit=2, cursor=cursor)

    assert (first, second, end) == (["alice", "bob"], ["charlie"], None)


async def test_creating_changing_and_deleting_an_account_is_logged(
    site: Site, alice: Person, nobody: httpx.AsyncClient
) -> None:
    made = (await alice.post("/admin/users", DORA)).json()
    changed = await alice.patch(f"/admin/users/{made['id']}", {"quota_feeds": 5, "is_admin": True})
    cleared = await alice.patch(f"/admin/users/{made['id']}", {"quota_feeds": None})
    assert (await nobody.post("/api/sessions", json=DORA)).status_code == 201
    deleted = await alice.delete(f"/admin/users/{made['id']}")

    assert (changed.json()["quota_feeds"], changed.json()["is_admin"]) == (5, True)
    assert (cleared.json()["quota_feeds"], cleared.json()["is_admin"]) == (None, True)
    assert deleted.status_code == 204
    assert (await nobody.get("/api/me")).status_code == 401
    assert (await alice.get(f"/admin/users/{made['id']}")).status_code == 404
    assert (await audit(alice))[:5] == [
        ("alice", "user.delete", "dora"),
        ("alice", "user.change", "dora, status=disabled"),
        ("alice", "user.change", "dora, quota_feeds=None"),
        ("alice", "user.change", "dora, is_admin=True, quota_feeds=5"),
        ("alice", "user.add", "dora"),
    ]


async def test_a_disabled_user_has_no_access_until_enabled(site: Site, alice: Person, bob: Person) -> None:
    await alice.patch(f"/admin/users/{bob.user.id}", {"status": "disabled"})
    assert (await bob.get("/me")).status_code == 401

    await alice.patch(f"/admin/users/{bob.user.id}", {"status": "active"})
    assert (await bob.get("/me")).status_code == 200


async def test_a_password_that_an_admin_sets_signs_the_user_out(
    site: Site, alice: Person, nobody: httpx.AsyncClient
) -> None:
    made = (await alice.post("/admin/users", DORA)).json()
    await nobody.post("/api/sessions", json=DORA)

    await alice.patch(f"/admin/users/{made['id']}", {"password": "another password"})

    assert (await nobody.get("/api/me")).status_code == 401
    assert (await nobody.post("/api/sessions", json=DORA | {"password": "another password"})).status_code == 201
    assert "another password" not in str(await audit(alice))


async def test_a_password_that_an_admin_sets_can_revoke_keys_and_reports_those_that_stay(
    alice: Person, bob: Person
) -> None:
    path = f"/admin/users/{bob.user.id}"

    kept = await alice.patch(path, {"password": "another password"})
    revoked = await alice.patch(path, {"password": "a third password", "revoke_keys": True})
    alone = await alice.patch(path, {"revoke_keys": True})

    assert kept.json()["ended"] == {"sessions_ended": 0, "keys_revoked": 0, "keys_left": 1}
    assert revoked.json()["ended"] == {"sessions_ended": 0, "keys_revoked": 1, "keys_left": 0}
    assert (await bob.get("/me")).status_code == 401
    assert alone.status_code == 422
    assert (await alice.patch(path, {"is_admin": False})).json()["ended"] is None


@pytest.mark.parametrize("change", [{"is_admin": False}, {"status": "disabled"}])
async def test_the_last_admin_cannot_be_removed(alice: Person, bob: Person, change: dict[str, Any]) -> None:
    refused = await alice.patch(f"/admin/users/{alice.user.id}", change)
    undeleted = await alice.delete(f"/admin/users/{alice.user.id}")

    assert (refused.status_code, refused.json()["code"]) == (409, "last_admin")
    assert undeleted.status_code == 409
    assert (await alice.get("/admin/users")).status_code == 200


async def test_a_name_that_is_taken_is_reported(alice: Person, bob: Person) -> None:
    answer = await alice.post("/admin/users", DORA | {"name": "BOB"})

    assert (answer.status_code, answer.json()["code"]) == (409, "name_taken")


async def test_a_key_without_the_admin_scope_cannot_administer(site: Site) -> None:
    careful = await site.person("careful", is_admin=True, scopes=("read", "write"))

    assert (await careful.get("/admin/users")).status_code == 403


async def test_feeds_are_listed_with_health_and_subscribers_and_without_secrets(site: Site, alice: Person) -> None:
    db = site.app.db
    login = encrypt_options(site.app.tools.encryption, '{"basic_auth": ["dora", "hunter2"]}')
    private = NewFeed("https://example.org/paid#user=7", http_options=login)
    await add_feeds(db, [NewFeed(URL), private], NOW, NOW)
    row = {"user_id": alice.user.id, "feed_id": 1, "created_at": to_iso(NOW)}
    await db.batch([Step(insert(subscriptions, *row), row)])
    await db.batch([Step(feeds.update().where(feeds.c.id == 2).values(consecutive_failures=3, last_error="404"))])

    answer = await alice.get("/admin/feeds")
    failing = (await alice.get("/admin/feeds", params={"failing": True})).json()["items"]

    told = ("url", "subscribers", "standing", "is_private")
    assert [tuple(feed[name] for name in told) for feed in answer.json()["items"]] == [
        (URL, 1, "new", False),
        ("https://example.org/paid", 0, "failing", True),
    ]
    assert [feed["last_error"] for feed in failing] == ["404"]
    assert "hunter2" not in answer.text
    assert "user=7" not in answer.text


async def test_a_feed_is_paused_and_resumed_for_everybody(site: Site, alice: Person) -> None:
    feed = await add_feed(site.app.db, URL, NOW)

    paused = (await alice.patch(f"/admin/feeds/{feed.id}", {"paused": True})).json()
    resumed = (await alice.patch(f"/admin/feeds/{feed.id}", {"paused": False})).json()

    assert (paused["status"], paused["next_fetch_at"]) == ("disabled", None)
    assert (resumed["status"], resumed["next_fetch_at"] is None) == ("active", False)
    assert [deed[1:] for deed in (await audit(alice))[:2]] == [("feed.resume", URL), ("feed.pause", URL)]


async def test_moving_a_feed_by_hand_drops_the_state_of_the_old_url(site: Site, alice: Person) -> None:
    db = site.app.db
    feed = await add_feed(db, URL, NOW)
    secret = {"etag": "e", "body_sha256": "b", "http_options": "{}", "claim_token": "t", "consecutive_failures": 9}
    await db.batch([Step(feeds.update().values(**secret))])

    moved = await alice.patch(f"/admin/feeds/{feed.id}", {"url": "https://example.net/new"})

    assert (moved.json()["url"], moved.json()["consecutive_failures"]) == ("https://example.net/new", 0)
    [row] = await db.query(feeds.select())
    assert [row[name] for name in ("host", "etag", "body_sha256", "claim_token")] == ["example.net", None, None, None]
    assert row["http_options"] is None
    assert (await audit(alice))[0] == ("alice", "feed.move", f"{URL} -> https://example.net/new")


async def test_a_password_is_kept_only_for_a_url_on_the_same_host(site: Site, alice: Person) -> None:
    db = site.app.db
    feed = await add_feed(db, URL, NOW)
    login = site.app.tools.encryption.encrypt('{"basic_auth": ["a", "b"]}', ENCRYPTION_PURPOSE)
    await db.batch([Step(feeds.update().values(http_options=login.value))])

    await alice.patch(f"/admin/feeds/{feed.id}", {"url": "https://example.org/other"})

    [moved] = await feeds_of_ids(db, [feed.id])
    assert moved.http_options == login


@pytest.mark.parametrize(
    ("url", "status", "code"),
    [
        ("https://example.org/taken", 409, "url_taken"),
        ("gopher://example.org/", 422, "bad_input"),
        ("https://", 422, "bad_input"),
    ],
)
async def test_an_invalid_url_is_refused(site: Site, alice: Person, url: str, status: int, code: str) -> None:
    feed = await add_feed(site.app.db, URL, NOW)
    await add_feed(site.app.db, "https://example.org/taken", NOW)

    answer = await alice.patch(f"/admin/feeds/{feed.id}", {"url": url})

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert await feed_of_url(site.app.db, URL) is not None


async def test_an_admin_cannot_change_the_url_of_a_feed_with_a_users_password(site: Site, alice: Person) -> None:
    feed = await add_feed(site.app.db, f"{URL}#user=7", NOW)

    answer = await alice.patch(f"/admin/feeds/{feed.id}", {"url": "https://evil.example/"})

    assert answer.status_code == 409


async def test_the_queue_lists_what_runs_waits_and_failed(site: Site, alice: Person) -> None:
    feed = await add_feed(site.app.db, URL, NOW)
    at = to_iso(datetime.now(UTC) - timedelta(hours=1))
    lines = [{"feed_id": feed.id, "at": at, "outcome": outcome} for outcome in ("updated", "http_error")]
    await site.app.db.batch([Step(insert(fetch_log, *lines[0]), lines)])

    queue = (await alice.get("/admin/queue")).json()

    assert (queue["feeds"]["due"], queue["batches"], queue["messages"]) == (1, [], {})
    assert queue["waits"] == {"manual": 0, "scheduled": 0}
    assert [(host["host"], host["feeds"]) for host in queue["waiting"]] == [("example.org", 1)]
    assert (queue["running"], queue["heartbeats"]) == ([], [])
    assert [failure["url"] for failure in queue["failures"]] == [URL]


async def test_storage_usage_names_the_largest_feeds(site: Site, alice: Person) -> None:
    await _keep(site, await add_feed(site.app.db, URL, NOW), raw=100, image=50)
    await _keep(site, await add_feed(site.app.db, "https://example.org/b", NOW), raw=10, image=500)

    room = (await alice.get("/admin/storage")).json()

    assert (room["raw_bytes"], room["image_bytes"], room["raw_bodies"], room["images"]) == (110, 550, 2, 2)
    sizes = [(one["feed_id"], one["raw_bytes"], one["image_bytes"]) for one in room["largest"]]
    assert sizes == [(2, 10, 500), (1, 100, 50)]
    assert room["database_bytes"] > 0


async def test_storage_that_is_kept_for_a_user_is_reported(site: Site, alice: Person, bob: Person) -> None:
    feed = await add_feed(site.app.db, URL, NOW)
    await _keep(site, feed, raw=100, image=50)
    row = {"user_id": bob.user.id, "feed_id": feed.id, "created_at": to_iso(NOW)}
    await site.app.db.batch([Step(insert(subscriptions, *row), row)])

    listed = {user["name"]: user["kept_bytes"] for user in (await alice.get("/admin/users")).json()["items"]}

    assert listed == {"alice": 0, "bob": 150}
    assert (await alice.get(f"/admin/users/{bob.user.id}")).json()["kept_bytes"] == 150


async def test_hosts_are_listed_by_name_page_by_page(site: Site, alice: Person) -> None:
    for url in (URL, "https://example.org/b", "https://a.example/", "https://z.example/"):
        await add_feed(site.app.db, url, NOW)

    first = (await alice.get("/admin/hosts", params={"limit": 2})).json()
    rest = (await alice.get("/admin/hosts", params={"limit": 2, "cursor": first["next"]})).json()

    assert [(host["host"], host["feeds"]) for host in first["items"]] == [("a.example", 1), ("example.org", 2)]
    assert ([host["host"] for host in rest["items"]], rest["next"]) == (["z.example"], None)


@pytest.mark.parametrize("path", ["/admin/users", "/admin/feeds", "/admin/hosts", "/admin/audit"])
async def test_an_invalid_cursor_is_refused(alice: Person, path: str) -> None:
    bad = ("x", "!", "é", "OTk5OTk5OTk5OTk5OTk5OTk5OTk", "LTU", "bnVsbA", "Ilx1MDAwMCI", "W10")

    answers = [await alice.get(path, params={"cursor": cursor}) for cursor in bad]

    assert [answer.status_code for answer in answers] == [404] * len(bad)


async def _keep(site: Site, feed: Any, raw: int, image: int) -> None:
    at = to_iso(NOW)
    entry = {
        "id": feed.id,
        "feed_id": feed.id,
        "guid": "g",
        "sort_at": at,
        "refresh_token": "t",
        "digest": "d",
        "first_seen_at": at,
        "last_seen_at": at,
    }
    body = {"feed_id": feed.id, "key": f"k{feed.id}", "fetched_at": at, "sha256": "s", "size": raw}
    task = {
        "feed_id": feed.id,
        "entry_id": feed.id,
        "position": 0,
        "original_url": "u",
        "status": "success",
        "size": image,
        "created_at": at,
        "updated_at": at,
    }
    rows = ((entries, entry), (raw_bodies, body), (image_tasks, task))
    await site.app.db.batch([Step(insert(table, *row), row) for table, row in rows])
