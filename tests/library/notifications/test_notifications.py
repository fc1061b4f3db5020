"""Notifications are bundled, throttled, retried, and reach only addresses that the operator allows.

Messages are sent by Apprise itself, to a web server and an SMTP server on loopback.
"""

import warnings
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import apprise
import pytest

from feedmill.errors import BadInput, NotFound
from feedmill.library.notifications import watch_searches
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.model.notifications.notification_target import NotificationEvent, TargetSettings
from feedmill.outbound.apprise_messages import AppriseSender, NotificationMessage
from feedmill.outbound.apprise_schemes import SCHEMES
from feedmill.store.database import Database
from feedmill.store.search import find_entries
from feedmill.store.search import index_missing_entries as missing_entries
from feedmill.store.search.index_missing_entries import index_missing_entries
from tests.library.notifications.mail_server import Mailbox
from tests.library.notifications.notification_setup import NotificationSetup
from tests.library.small_library import SmallLibrary
from tests.library.webhooks.webhook_setup import MINUTE
from tests.scripted_web import Answer, Web

pytestmark = pytest.mark.external

FAILING, HEALED = NotificationEvent.FEED_FAILING, NotificationEvent.FEED_HEALED
MESSAGE = NotificationMessage("A title", "The text ü")


@pytest.fixture
async def setup(db: Database) -> AsyncIterator[NotificationSetup]:
    async with Web() as web:
        web.serve("/notify", Answer(status=200))
        yield NotificationSetup(db, web)


async def test_many_events_become_one_message_and_the_next_waits_for_the_gap(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    await setup.entry(alice, "one", "1")
    target, feed_id = await setup.target(alice), await setup.feed_id_of(alice)
    await setup.event(feed_id, FAILING)
    await setup.event(feed_id, HEALED)

    await setup.notifications.send()
    await setup.event(feed_id, FAILING)
    assert await setup.notifications.send() == 0

    [received] = setup.received()
    assert received["title"] == "2 notifications"
    assert "Broken: Blog" in received["message"]
    assert "Works again: Blog" in received["message"]
    known = await setup.one(target)
    assert (known.waiting, known.last_success_at, known.last_error) == (1, setup.now, None)
    setup.now += 5 * MINUTE
    assert await setup.notifications.send() == 1
    assert [each["title"] for each in setup.received()][1:] == ["Broken: Blog"]


async def test_a_failed_message_is_tried_again_with_what_came_meanwhile(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    await setup.entry(alice, "one", "1")
    target, feed_id = await setup.target(alice, gap=0), await setup.feed_id_of(alice)
    setup.web.serve("/notify", Answer(status=500))
    await setup.event(feed_id, FAILING)
    await setup.notifications.send()
    known = await setup.one(target)
    assert (known.attempts, known.waiting, known.next_attempt_at) == (1, 1, setup.now + MINUTE)
    assert "error=500" in str(known.last_error)

    setup.web.serve("/notify", Answer(status=200))
    await setup.event(feed_id, HEALED)
    assert await setup.notifications.send() == 0
    setup.now += MINUTE
    await setup.notifications.send()

    assert setup.received()[-1]["title"] == "2 notifications"
    assert (await setup.one(target)).waiting == 0


async def test_new_hits_of_a_saved_search_are_reported_once(setup: NotificationSetup) -> None:
    alice, bob = await setup.reader("alice"), await setup.reader("bob")
    await setup.entry(alice, "An old mill", "1")
    search = await create_saved_search(setup.db, alice.id, "mills", "mill")
    await setup.target(alice, searches=(search.id,), gap=0)

    await setup.entry(alice, "A new mill", "2")
    await setup.entry(alice, "A pond", "3")
    await setup.entry(bob, "A mill of Bob", "4")
    await index_missing_entries(setup.db)
    setup.now += 3 * MINUTE
    await setup.notifications.send()
    setup.now += 3 * MINUTE
    await setup.notifications.send()

    [received] = setup.received()
    assert received["title"] == "mills: one new item"
    assert "• A new mill" in received["message"]
    assert "old" not in received["message"]


async def test_a_search_waits_for_the_words_of_entries_that_are_not_indexed_yet(
    setup: NotificationSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await setup.reader("alice")
    await setup.entry(alice, "An old pond", "1")
    search = await create_saved_search(setup.db, alice.id, "no mills", "-mill")
    await setup.target(alice, searches=(search.id,), gap=0)
    await index_missing_entries(setup.db)
    for module in (watch_searches, missing_entries):
        monkeypatch.setattr(module, "index_waiting_texts", do_nothing)
    monkeypatch.setattr(find_entries, "index_last_texts", do_nothing)

    await setup.entry(alice, "A mill", "2")
    await setup.entry(alice, "A new pond", "3")
    await index_missing_entries(setup.db)
    setup.now += 3 * MINUTE
    await setup.notifications.send()
    monkeypatch.undo()
    setup.now += 3 * MINUTE
    await setup.notifications.send()

    [received] = setup.received()
    assert received["title"] == "no mills: one new item"
    assert "• A new pond" in received["message"]


async def test_a_search_for_unread_items_misses_none_that_is_deferred(
    setup: NotificationSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = await setup.reader("alice")
    await setup.entry(alice, "An old pond", "1")
    search = await create_saved_search(setup.db, alice.id, "unread", "is:unread")
    await setup.target(alice, searches=(search.id,), gap=0)
    monkeypatch.setattr(watch_searches, "fill_deferred", do_nothing)

    await SmallLibrary(setup.db).arrive(await setup.feed_id_of(alice), "deferred", defers_unread=True)
    await setup.unread_entry(alice, "A new pond", "3")
    await index_missing_entries(setup.db)
    setup.now += 3 * MINUTE
    await setup.notifications.send()
    monkeypatch.undo()
    setup.now += 3 * MINUTE
    await setup.notifications.send()

    assert "unread: 2 new items" in [received["title"] for received in setup.received()]


async def do_nothing(*_: object) -> None:
    """As a process that has not come so far."""


async def test_a_paused_target_and_a_muted_feed_are_not_notified_but_a_test_is_sent(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    await setup.entry(alice, "one", "1")
    paused, feed_id = await setup.target(alice, paused=True), await setup.feed_id_of(alice)
    await setup.target(alice, path="/other")
    await setup.set_subscription(alice, settings='{"notify":false}')

    await setup.event(feed_id, FAILING)
    await setup.notifications.test(alice.id, paused.id)
    await setup.notifications.send()

    assert [each["title"] for each in setup.received()] == ["Feedmill: test message"]
    assert setup.received("/other") == []


async def test_what_has_nothing_to_say_any_more_is_dropped(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    await setup.entry(alice, "one", "1")
    target, feed_id = await setup.target(alice), await setup.feed_id_of(alice)
    await setup.event(feed_id, FAILING)
    await setup.set_subscription(alice, user_id=(await setup.reader("bob")).id)

    await setup.notifications.send()

    assert (setup.received(), (await setup.one(target)).waiting) == ([], 0)


async def test_charlie_sees_and_changes_nothing_of_alices_targets(setup: NotificationSetup) -> None:
    alice, charlie = await setup.reader("alice"), await setup.reader("charlie")
    target = await setup.target(alice)
    search = await create_saved_search(setup.db, alice.id, "mills", "mill")

    for call in (
        setup.notifications.one(charlie.id, target.id),
        setup.notifications.change(charlie.id, target.id, target.settings),
        setup.notifications.delete(charlie.id, target.id),
        setup.notifications.test(charlie.id, target.id),
        setup.target(charlie, searches=(search.id,)),
    ):
        with pytest.raises(NotFound):
            await call
    assert await setup.notifications.all(charlie.id) == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "ntfy",
        "https://example.org/",
        "syslog://",
        "dbus://",
        "gnome://",
        "macosx://",
        "windows://",
        "rsyslog://127.0.0.1",
        "mqtt://127.0.0.1",
        "irc://127.0.0.1",
        "file:///etc/passwd",
        "JSON",
        "ntfys://ntfy.sh/a\r\nX: b",
        "json://" + "x" * 3000,
    ],
)
async def test_an_address_that_is_not_allowed_is_refused(setup: NotificationSetup, url: str) -> None:
    alice = await setup.reader()

    with pytest.raises(BadInput) as refused:
        await setup.notifications.create(alice.id, url, TargetSettings("phone", ()))

    assert refused.value.field == "url"


async def test_the_address_is_encrypted_and_another_key_is_said(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    target = await setup.target(alice)

    assert "127.0.0.1" not in target.url.value
    assert (target.scheme, "127.0.0.1" in repr(target)) == ("json", False)


# --- what the process of Apprise may do --------------------------------------------------------------


async def _send(url: str, *allowed: str) -> str:
    failed = await AppriseSender(allowed).send(url, MESSAGE)
    return "" if failed is None else failed.code


async def test_a_target_inside_our_network_is_not_reached(setup: NotificationSetup) -> None:
    port = setup.web.port

    assert await _send(f"json://127.0.0.1:{port}/notify") == "notification.address"
    assert await _send(f"ntfy://localhost:{port}/topic") == "notification.address"
    assert setup.web.requests == []


async def test_a_redirect_into_our_network_is_not_followed(setup: NotificationSetup) -> None:
    private = f"http://127.0.0.2:{setup.web.port}/notify"
    setup.web.serve("/redirect", Answer(status=307, headers={"Location": private}))

    reason = await _send(f"json://127.0.0.1:{setup.web.port}/redirect", "127.0.0.1/32")

    assert reason == "notification.address"
    assert [seen.path for seen in setup.web.requests] == ["/redirect"]


async def test_a_file_of_the_server_cannot_be_named(setup: NotificationSetup, tmp_path: Any) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("do not send")

    for parameter in ("template", "pgpkey", "keyfile", "attach"):
        await _send(f"json://127.0.0.1:{setup.web.port}/notify?{parameter}={secret}", "127.0.0.0/8")
    await _send(f"slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/?template={secret}", "127.0.0.0/8")

    assert all(b"do not send" not in seen.body for seen in setup.web.requests)


async def test_a_scheme_that_touches_the_machine_is_refused_in_the_process_too() -> None:
    assert await _send("syslog://") == "notification.local"


async def test_a_service_that_never_answers_is_given_up(setup: NotificationSetup) -> None:
    sender = AppriseSender(("127.0.0.0/8",), timedelta(milliseconds=1))

    failed = await sender.send(f"json://127.0.0.1:{setup.web.port}/notify", MESSAGE)

    assert failed is not None
    assert failed.code == "notification.timeout"


async def test_a_message_arrives_as_mail(mail_server: tuple[Mailbox, int]) -> None:
    mailbox, port = mail_server
    url = f"mailto://127.0.0.1:{port}?from=feedmill@example.org&to=alice@example.org&mode=insecure"

    assert await _send(url) == "notification.address"
    assert await _send(url, "127.0.0.0/8") == ""

    [mail] = mailbox.received
    assert b"A title" in mail


def test_every_scheme_is_one_of_apprise_and_none_touches_the_machine() -> None:
    with warnings.catch_warnings(action="ignore"):
        services = apprise.Apprise().details(show_disabled=True)["schemas"]
    known: set[str] = set()
    for service in services:
        known |= {*(service["protocols"] or ()), *(service["secure_protocols"] or ())}

    assert known >= SCHEMES
    local = {"dbus", "qt", "kde", "glib", "gio", "gnome", "macosx", "windows", "syslog", "rsyslog", "growl", "file"}
    assert not SCHEMES & (local | {"mqtt", "mqtts", "amqp", "amqps", "irc", "ircs", "smpp", "smpps", "vapid", "fcm"})
