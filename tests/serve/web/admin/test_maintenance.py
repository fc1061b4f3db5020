"""The log, the settings, the backup and retention on an admin's pages."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill import logs
from feedmill.archive.backup.create import create_backup
from feedmill.i18n.catalogue import catalogue
from feedmill.i18n.messages import Message
from feedmill.library.archive.backup_status import record_backup, record_backup_check
from feedmill.library.users.manage_users import create_first_admin
from feedmill.logs import LEVELS, LogBuffer
from feedmill.model.timestamps import to_iso
from feedmill.settings import Settings
from feedmill.store.database import Step
from feedmill.store.schema import entries, image_tasks
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.serve.web.admin.test_admin import rows
from tests.serve.web.visitor import Visitor, text_of
from tests.services.server import Service


@pytest.fixture
def tail(monkeypatch: pytest.MonkeyPatch) -> LogBuffer:
    made = LogBuffer()
    monkeypatch.setattr("feedmill.serve.web.admin.server_log.LOG_BUFFER", made)
    for number, level in enumerate(LEVELS):
        event = {"event": f"something {level}", "level": level, "timestamp": f"2026-02-18T08:30:0{number}Z"}
        more = {"feed_id": 1, "url": "https://a:hunter2@example.org/"} if level == "warning" else {}
        made.add(None, level, logs.redact_event(None, level, event | more))
    return made


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["critical", "error", "warning", "info"]),
        ("?level=debug", ["critical", "error", "warning", "info", "debug"]),
        ("?level=error", ["critical", "error"]),
        ("?level=shout", ["critical", "error", "warning", "info"]),
        ("?text=SOMETHING+info", ["info"]),
        ("?feed=1", ["warning"]),
        ("?feed=2", []),
    ],
)
async def test_log_lines_are_filtered_by_level_text_and_feed(
    alice: Visitor, tail: LogBuffer, asked: str, found: list[str]
) -> None:
    page = await alice.see(f"/admin/log{asked}")

    assert [row.rpartition("something ")[2].split()[0] for row in rows(page)] == found
    assert "hunter2" not in text_of(page)
    assert found or "No matching lines" in text_of(page)


async def test_an_invalid_feed_id_is_reported(alice: Visitor, tail: LogBuffer) -> None:
    answer = await alice.client.get("/admin/log?feed=first")

    assert (answer.status_code, "Enter the id of a feed" in answer.text) == (422, True)


async def test_settings_are_listed_with_their_source_and_without_secrets(alice: Visitor) -> None:
    page = await alice.see("/admin/settings")

    found = rows(page)
    assert len(found) == len(Settings.fields)
    assert any(row == "host_gap Seconds between two requests to one host. 0 Command line" for row in found)
    assert any(row.startswith("port ") and row.endswith(" 8000 Default") for row in found)
    assert page.xpath("//main//form") == []


def test_every_setting_is_explained_in_chinese() -> None:
    told = catalogue("zh_CN")

    assert [name for name in Settings.fields if f"setting.{name}" not in told] == []


async def test_the_state_of_the_backup_is_reported(site: Site, alice: Visitor, tmp_path: Path) -> None:
    app, folder = site.app, tmp_path / "kept"
    assert "There is no backup of this database yet" in text_of(await alice.see("/admin/storage"))
    made_at = datetime.now(UTC) - timedelta(days=8)

    manifest = await create_backup(app.db, app.blobs, folder, made_at, portable=False, with_objects=True)
    await record_backup(app.db, str(folder), manifest, made_at)
    page = text_of(await alice.see("/admin/storage"))
    assert "Older than a week" in page
    assert "CheckedNot yet" in page
    await record_backup_check(app.db, manifest, [], datetime.now(UTC))
    assert "CheckedIntact now" in text_of(await alice.see("/admin/storage"))
    unreadable = Message("backup.unreadable", name="feedmill.db", detail="Permission denied")
    await record_backup_check(app.db, manifest, [unreadable], datetime.now(UTC))
    assert "Damaged nowfeedmill.db: can't be read (Permission denied)" in text_of(await alice.see("/admin/storage"))


async def test_retention_is_previewed_on_request_and_deletes_nothing(site: Site, alice: Visitor) -> None:
    long_ago = to_iso(datetime.now(UTC) - timedelta(days=400))
    await site.app.db.batch([Step(entries.update().where(entries.c.id == 1).values(in_feed=0, last_seen_at=long_ago))])
    [link] = (await alice.see("/admin/storage")).xpath("//a[contains(@href, 'retention')]/@href")

    page = text_of(await alice.see(str(link).partition("#")[0]))

    assert "Items1Raw bodies0" in page
    assert "Items8" in text_of(await alice.see("/admin/storage"))


async def test_scaled_out_each_process_shows_its_heartbeat(redis_service: Service, tmp_path: Path) -> None:
    async with Web() as web, running_site(tmp_path, web, redis=redis_service.url) as site:
        await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))
        alice = await Visitor.signed_in(site, "alice")
        await site.app.coordination.presence.announce("worker", "mill-7:42")

        page = await alice.see("/admin/queue")

        assert "worker mill-7:42" in " ".join(rows(page))
        assert "Workers and the scheduler have their own logs." in text_of(await alice.see("/admin/log"))


async def test_failed_images_are_tried_again(site: Site, alice: Visitor) -> None:
    await _give_up_an_image(site)
    assert (await alice.see("/admin/queue")).xpath("//form[@action='/admin/queue/retry/images']")

    await alice.send("/admin/queue/retry/images")

    assert "One image is retried." in text_of(await alice.see("/admin/queue"))
    assert rows(await alice.see("/admin/audit"))[0].startswith("now alice queue.retry images")
    assert (await alice.send("/admin/queue/retry/everything")).status_code == 404


async def _give_up_an_image(site: Site) -> None:
    at = to_iso(datetime.now(UTC))
    task = {
        "feed_id": 1,
        "entry_id": 1,
        "position": 9,
        "original_url": "https://example.org/i.png",
        "status": "failed",
        "attempts": 3,
        "created_at": at,
        "updated_at": at,
    }
    await site.app.db.batch([Step(image_tasks.insert().values(**task))])
