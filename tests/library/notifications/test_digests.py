"""Digests: when they are due, what they tell by folder, and how they arrive as mail."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email import message_from_bytes
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from feedmill.archive.files import FolderBlobs
from feedmill.i18n.translator import translator
from feedmill.library.entries.marks import apply_marks
from feedmill.library.notifications.compose_digest import compose_digest
from feedmill.library.notifications.digest_pictures import MAX_PICTURE_BYTES
from feedmill.library.notifications.queue_digests import next_digest_at
from feedmill.library.subscriptions.folders import make_folder
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.notifications.notification_message import InlinePicture, NotificationMessage
from feedmill.model.notifications.notification_target import DigestPeriod, TargetSettings
from feedmill.model.user import User
from feedmill.outbound.apprise_messages import apprise_content
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.schema import folder_subscriptions, image_tasks, subscriptions
from tests.library.notifications.mail_server import Mailbox
from tests.library.notifications.notification_setup import NotificationSetup
from tests.library.webhooks.webhook_setup import NOW
from tests.scripted_web import Answer, Web

DAILY, WEEKLY, NONE = DigestPeriod.DAILY, DigestPeriod.WEEKLY, DigestPeriod.NONE
ADD_IMAGE = insert(
    image_tasks,
    *("feed_id", "entry_id", "original_url", "status", "object_key", "content_type", "size"),
    *("created_at", "updated_at"),
)
PICTURE = b"\x89PNG the bytes of a picture"
HTML_WITH_PICTURE = '<img src="cid:entry-1.png" alt="" width="120"><b>text</b>'
IN_FOLDER = insert(folder_subscriptions, "folder_id", "subscription_id")
HOSTILE, SHOWN = 'Mills &lt;b&gt; & "more"', 'Mills <b> & "more"'
MORNING = datetime(2026, 2, 18, 6, tzinfo=UTC)
SHANGHAI, ROME = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Rome")


@pytest.fixture
async def setup(db: Database) -> AsyncIterator[NotificationSetup]:
    async with Web() as web:
        yield NotificationSetup(db, web)


@pytest.mark.parametrize(
    ("period", "zone", "now", "expected"),
    [
        (NONE, UTC, MORNING, None),
        (DAILY, UTC, MORNING, datetime(2026, 2, 18, 7, tzinfo=UTC)),
        (DAILY, UTC, datetime(2026, 2, 18, 7, tzinfo=UTC), datetime(2026, 2, 19, 7, tzinfo=UTC)),
        (WEEKLY, UTC, MORNING, datetime(2026, 2, 23, 7, tzinfo=UTC)),
        (DAILY, SHANGHAI, MORNING, datetime(2026, 2, 18, 23, tzinfo=UTC)),
        # The night in which the clocks go forward is an hour shorter.
        (DAILY, ROME, datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 3, 29, 5, tzinfo=UTC)),
    ],
)
def test_a_digest_is_due_at_seven_in_the_zone_of_the_user(
    period: DigestPeriod, zone: ZoneInfo, now: datetime, expected: datetime | None
) -> None:
    assert next_digest_at(period, zone, now) == expected


async def _make_unread(setup: NotificationSetup, user_id: int, entry_id: int) -> None:
    await apply_marks(setup.db, user_id, [entry_id], EntryMarks(read=False), setup.now)


async def test_a_digest_has_the_unread_entries_by_folder_with_escaped_titles(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    ids = [await setup.entry(alice, title, guid) for title, guid in ((HOSTILE, "1"), ("Read already", "2"))]
    await _make_unread(setup, alice.id, ids[0])
    folder = await make_folder(setup.db, alice.id, "Craft & more", 0, 0)
    [subscription] = await setup.db.query(subscriptions.select())
    await setup.db.batch([Step(IN_FOLDER, {"folder_id": folder.id, "subscription_id": subscription["id"]})])

    digest = await compose_digest(setup.db, None, alice.id, ids, translator("en"))

    assert digest is not None
    assert digest.title == "One new item"
    assert digest.body.startswith(f"== Craft & more ==\n• {SHOWN} (Blog)")
    assert "<h2>Craft &amp; more</h2>" in digest.html
    assert "Mills &lt;b&gt; &amp; &quot;more&quot;" in digest.html
    assert "<b>" not in digest.html
    assert "Read already" not in digest.html
    charlie = await setup.reader("charlie")
    assert await compose_digest(setup.db, None, charlie.id, ids, translator("en")) is None


async def _illustrated(
    setup: NotificationSetup, user: User, size: int = len(PICTURE), content_type: str = "image/png"
) -> int:
    """An unread entry with an archived image."""
    entry = await setup.unread_entry(user, "A mill", str(size) + content_type)
    row = {"feed_id": await setup.feed_id_of(user), "entry_id": entry, "original_url": "https://e.org/mill.png"}
    stored = {"status": "success", "object_key": f"images/1/abcdef01/{entry}.png", "created_at": "x", "updated_at": "x"}
    await setup.db.batch([Step(ADD_IMAGE, row | stored | {"size": size, "content_type": content_type})])
    return entry


async def test_a_digest_shows_archived_images_by_the_address_that_browsers_load(
    setup: NotificationSetup, tmp_path: Path
) -> None:
    alice = await setup.reader()
    entry = await _illustrated(setup, alice)

    blobs = FolderBlobs(tmp_path, "https://cdn.example")
    digest = await compose_digest(setup.db, blobs, alice.id, [entry], translator("en"))

    assert digest is not None
    assert f'<img src="https://cdn.example/images/1/abcdef01/{entry}.png"' in digest.html
    assert digest.pictures == ()


async def test_images_of_a_folder_are_sent_with_the_digest_if_they_fit(
    setup: NotificationSetup, tmp_path: Path
) -> None:
    alice = await setup.reader()
    shown = await _illustrated(setup, alice)
    others = [
        await _illustrated(setup, alice, MAX_PICTURE_BYTES + 1),
        await _illustrated(setup, alice, content_type="image/svg+xml"),
    ]
    missing = await _illustrated(setup, alice, size=1)
    blobs = FolderBlobs(tmp_path)
    for entry in (shown, *others):
        await blobs.put(f"images/1/abcdef01/{entry}.png", PICTURE, "image/png")

    digest = await compose_digest(setup.db, blobs, alice.id, [shown, *others, missing], translator("en"))

    assert digest is not None
    assert [(each.name, each.content) for each in digest.pictures] == [(f"entry-{shown}.png", PICTURE)]
    assert digest.html.count("<img") == 1
    assert f'<img src="cid:entry-{shown}.png"' in digest.html


@pytest.mark.external
async def test_a_digest_arrives_as_mail_in_html_and_text(
    setup: NotificationSetup, mail_server: tuple[Mailbox, int]
) -> None:
    mailbox, port = mail_server
    alice = await setup.reader()
    await _make_unread(setup, alice.id, await setup.entry(alice, "A mill", "1"))
    url = f"mailto://127.0.0.1:{port}?from=feedmill@example.org&to=alice@example.org&mode=insecure"
    await setup.notifications.create(alice.id, url, TargetSettings("mail", (), digest=DAILY))

    await setup.notifications.send()
    assert mailbox.received == []
    setup.now = NOW + timedelta(hours=23)
    await setup.notifications.send()
    await setup.notifications.send()

    [mail] = map(message_from_bytes, mailbox.received)
    parts = {part.get_content_type(): part.get_payload(decode=True) for part in mail.walk() if not part.is_multipart()}
    assert b">A mill</a>" in parts["text/html"]
    assert b"A mill" in parts["text/plain"]
    assert "One new item" in str(mail["subject"])


@pytest.mark.external
async def test_the_pictures_of_a_digest_arrive_inside_the_mail(
    db: Database, tmp_path: Path, mail_server: tuple[Mailbox, int]
) -> None:
    mailbox, port = mail_server
    async with Web() as web:
        setup = NotificationSetup(db, web, blobs=FolderBlobs(tmp_path))
        alice = await setup.reader()
        entry = await _illustrated(setup, alice)
        await FolderBlobs(tmp_path).put(f"images/1/abcdef01/{entry}.png", PICTURE, "image/png")
        url = f"mailto://127.0.0.1:{port}?from=feedmill@example.org&to=alice@example.org&mode=insecure"
        await setup.notifications.create(alice.id, url, TargetSettings("mail", (), digest=DAILY))
        web.serve("/notify", Answer(status=200))
        await setup.target(alice, digest=DAILY)
        setup.now = NOW + timedelta(hours=23)

        await setup.notifications.send()

        [received] = setup.received()
    [mail] = map(message_from_bytes, mailbox.received)
    parts = {part.get_content_type(): part for part in mail.walk() if not part.is_multipart()}
    assert parts["image/png"].get_payload(decode=True) == PICTURE
    content_id = str(parts["image/png"]["content-id"]).strip("<>")
    assert f'<img src="cid:{content_id}"'.encode() in parts["text/html"].get_payload(decode=True)
    assert b"A mill" in parts["text/plain"].get_payload(decode=True)
    # Others get the text alone.
    assert "cid:" not in received["message"]
    assert received["attachments"] == []


@pytest.mark.parametrize(("scheme", "pictures"), [("mailtos", 1), ("mailgun", 0), ("json", 0)])
def test_only_mail_has_pictures_inside(scheme: str, pictures: int) -> None:
    picture = InlinePicture("entry-1.png", "image/png", PICTURE)
    content = apprise_content(NotificationMessage("t", "b", HTML_WITH_PICTURE, pictures=(picture,)), scheme)

    assert len(content["pictures"]) == content["html"].count("cid:") == pictures
    assert content["html"].endswith("<b>text</b>")
