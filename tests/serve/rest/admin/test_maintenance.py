"""Maintenance: merges, blocked hosts, the log, the settings, retention, failed tasks."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill import logs
from feedmill.archive.backup.create import create_backup
from feedmill.library.archive.backup_status import record_backup
from feedmill.model.timestamps import to_iso
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.settings import Settings
from feedmill.store.admin.blocked_hosts import BLOCKED_HOST_REASON
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import NewFeed, add_feed, add_feeds
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import entries, fetch_log, subscriptions
from tests.flows.refresh_environment import NOW
from tests.serve.rest.admin.test_admin import audit
from tests.serve.rest.site import Person, Site

URLS = ("https://example.org/a", "https://www.example.org/b")


async def two_feeds(site: Site, alice: Person) -> tuple[int, int]:
    """Alice subscribes to the first, which has an entry."""
    first, second = [(await add_feed(site.app.db, url, NOW)).id for url in URLS]
    at = to_iso(NOW)
    entry = {
        "feed_id": first,
        "guid": "g",
        "sort_at": at,
        "refresh_token": "t",
        "digest": "d",
        "first_seen_at": at,
        "last_seen_at": at,
    }
    row = {"user_id": alice.user.id, "feed_id": first, "created_at": at}
    await site.app.db.batch([Step(insert(entries, *entry), entry), Step(insert(subscriptions, *row), row)])
    return first, second


async def test_a_merge_is_previewed_then_done_and_logged(site: Site, alice: Person) -> None:
    first, second = await two_feeds(site, alice)

    foreseen = (await alice.post(f"/admin/feeds/{first}/merge", {"into": second, "dry_run": True})).json()
    assert (foreseen["readers"], foreseen["feed"]["subscribers"], foreseen["dry_run"]) == (1, 0, True)
    done = (await alice.post(f"/admin/feeds/{first}/merge", {"into": second})).json()

    assert (done["readers"], done["readers_of_both"], done["same_entries"], done["moved_entries"]) == (1, 0, 0, 0)
    assert (done["feed"]["id"], done["feed"]["subscribers"], done["feed"]["entries"]) == (second, 1, 0)
    assert (await audit(alice))[0] == ("alice", "feed.merge", f"{URLS[0]} -> {URLS[1]}")
    again = await alice.post(f"/admin/feeds/{first}/merge", {"into": second})
    assert (again.status_code, again.json()["code"]) == (409, "merged_already")


async def test_entries_move_with_a_merge_when_the_admin_confirms_after_seeing_them(site: Site, alice: Person) -> None:
    first, second = await two_feeds(site, alice)
    path = f"/admin/feeds/{first}/merge"

    foreseen = (await alice.post(path, {"into": second, "dry_run": True})).json()
    [shown] = foreseen["first_movable"]
    assert (foreseen["movable_entries"], foreseen["moved_entries"], shown["id"]) == (1, 0, foreseen["newest_movable"])
    wanted = {"into": second, "move_entries": True, "up_to": foreseen["newest_movable"]}
    done = (await alice.post(path, wanted)).json()

    assert (done["moved_entries"], done["feed"]["entries"]) == (1, 1)
    assert (await audit(alice))[0] == ("alice", "feed.merge_entries", f"{URLS[0]} -> {URLS[1]}")


async def test_feeds_that_must_stay_apart_are_not_merged(site: Site, alice: Person) -> None:
    login = encrypt_options(site.app.tools.encryption, '{"basic_auth": ["dora", "hunter2"]}')
    private = NewFeed("https://example.org/paid#user=7", http_options=login)
    await add_feeds(site.app.db, [NewFeed(URLS[0]), private], NOW, NOW)

    answers = [await alice.post("/admin/feeds/1/merge", {"into": into}) for into in (1, 2, 3)]

    codes = [(answer.status_code, answer.json()["code"]) for answer in answers]
    assert codes == [(409, "same_feed"), (409, "private_feed"), (404, "not_found")]


async def test_a_host_is_blocked_listed_and_unblocked(site: Site, alice: Person) -> None:
    await two_feeds(site, alice)

    blocked = (await alice.post("/admin/blocked-hosts", {"host": "https://Example.org/x"})).json()
    listed = (await alice.get("/admin/blocked-hosts")).json()["items"]
    hosts = (await alice.get("/admin/hosts")).json()["items"]
    resting = [feed.next_fetch_why for feed in await feeds_of_ids(site.app.db, [1, 2])]
    lifted = await alice.delete("/admin/blocked-hosts/example.org")
    missing = await alice.delete("/admin/blocked-hosts/example.org")

    assert (blocked, resting) == ({"host": "example.org", "feeds": 2}, [BLOCKED_HOST_REASON, BLOCKED_HOST_REASON])
    assert [(one["host"], one["user_name"]) for one in listed] == [("example.org", "alice")]
    assert [(one["host"], one["blocked"]) for one in hosts] == [("example.org", True), ("www.example.org", True)]
    assert (lifted.json(), missing.status_code) == ({"host": "example.org", "feeds": 2}, 404)
    assert [deed[1] for deed in (await audit(alice))[:2]] == ["host.unblock", "host.block"]


@pytest.mark.parametrize("host", ["two words", "ftp://x", "a\\b"])
async def test_an_invalid_host_name_is_not_blocked(alice: Person, host: str) -> None:
    assert (await alice.post("/admin/blocked-hosts", {"host": host})).status_code == 422


async def test_a_host_reports_its_load_of_the_last_day(site: Site, alice: Person) -> None:
    await two_feeds(site, alice)
    now = datetime.now(UTC)
    ages = (timedelta(hours=1), timedelta(hours=2), timedelta(days=3))
    lines = [
        {"feed_id": 1, "at": to_iso(now - age), "outcome": outcome, "bytes": 100}
        for age, outcome in zip(ages, ("updated", "timeout", "updated"), strict=True)
    ]
    await site.app.db.batch([Step(insert(fetch_log, *lines[0]), lines)])

    first, second = (await alice.get("/admin/hosts")).json()["items"]

    assert (first["requests"], first["errors"], first["bytes"], first["rests_until"]) == (2, 1, 200, None)
    assert first["per_hour"] == pytest.approx(2 / 24)
    assert (second["requests"], second["errors"]) == (0, 0)


async def test_a_host_that_asked_us_to_wait_is_reported(site: Site, alice: Person) -> None:
    await two_feeds(site, alice)
    await site.app.coordination.host_slots.pause("domain:example.org", timedelta(hours=1))

    until = [one["rests_until"] for one in (await alice.get("/admin/hosts")).json()["items"]]

    left = [datetime.fromisoformat(one) - datetime.now(UTC) for one in until]
    assert all(timedelta(minutes=50) < one <= timedelta(hours=1) for one in left)


async def test_the_log_is_filtered_by_level_text_and_feed(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    tail = logs.LogBuffer()
    monkeypatch.setattr("feedmill.serve.rest.admin.server_log.LOG_BUFFER", tail)
    for level in ("info", "error"):
        said = {"event": f"an {level}", "level": level, "timestamp": "2026-02-18T08:30:00Z", "feed_id": 3}
        tail.add(None, level, said)

    every = (await alice.get("/admin/log")).json()["items"]
    some = (await alice.get("/admin/log", params={"level": "error", "text": "AN", "feed_id": 3})).json()["items"]

    assert [line["event"] for line in every] == ["an error", "an info"]
    assert [(line["event"], line["feed_id"], line["more"]) for line in some] == [("an error", 3, '{"feed_id": 3}')]
    assert (await alice.get("/admin/log", params={"level": "loud"})).status_code == 422


async def test_settings_are_shown_without_secrets(alice: Person) -> None:
    found = {one["name"]: one for one in (await alice.get("/admin/settings")).json()["items"]}

    assert list(found) == list(Settings.fields)
    assert (found["host_gap"]["value"], found["host_gap"]["origin"]) == (0, "command line")
    assert (found["secret_key"]["value"], found["secret_key"]["origin"]) == ("", "default")


async def test_the_last_backup_is_reported(site: Site, alice: Person, tmp_path: Path) -> None:
    app, folder = site.app, tmp_path / "kept"
    assert (await alice.get("/admin/backup")).json() == {"last": None}
    manifest = await create_backup(app.db, app.blobs, folder, NOW, portable=True, with_objects=False)
    await record_backup(app.db, str(folder), manifest, NOW)

    last = (await alice.get("/admin/backup")).json()["last"]

    assert (last["folder"], last["sound"], last["checked_at"], last["problems"]) == (str(folder), None, None, [])
    assert datetime.fromisoformat(last["created_at"]) == NOW
    assert last["size"] > 0


async def test_retention_is_previewed(alice: Person) -> None:
    would_go = (await alice.get("/admin/retention")).json()

    assert set(would_go) == {"entries", "raw_bodies", "log_lines", "batches", "unread_lists", "objects"}


async def test_failed_tasks_are_retried_and_logged(alice: Person) -> None:
    answer = await alice.post("/admin/queue/retry", {"what": "deliveries"})

    assert answer.json() == {"what": "deliveries", "retried": 0}
    assert (await audit(alice))[0] == ("alice", "queue.retry", "deliveries")
