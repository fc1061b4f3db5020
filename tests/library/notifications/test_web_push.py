"""Browsers are notified by web push: encrypted, signed, throttled, and only at addresses that the operator allows."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from feedmill.errors import BadInput, NotFound
from feedmill.library.notifications.browser_push import KEY_NAME, check_subscription, fingerprint
from feedmill.library.search.saved_searches import create_saved_search
from feedmill.model.notifications.notification_message import NotificationMessage
from feedmill.model.notifications.notification_target import (
    CHOSEN_EVENTS,
    DigestPeriod,
    NotificationEvent,
    NotificationTarget,
    TargetSettings,
)
from feedmill.model.notifications.push_subscription import PushSubscription
from feedmill.model.user import User
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.web_push import push_content
from feedmill.store.database import Database
from feedmill.store.instance_state import read_instance_value
from feedmill.store.search.index_missing_entries import index_missing_entries
from tests.library.notifications.notification_setup import NotificationSetup
from tests.library.notifications.push_service import PushedBrowser
from tests.library.services.service_setup import with_key
from tests.library.webhooks.webhook_setup import MINUTE, open_client
from tests.scripted_web import Web

FAILING = NotificationEvent.FEED_FAILING
SETTINGS = TargetSettings("Firefox", CHOSEN_EVENTS)


@pytest.fixture
async def setup(db: Database) -> AsyncIterator[NotificationSetup]:
    async with Web() as web, open_client() as client:
        yield NotificationSetup(db, web, client=client)


async def _browser(setup: NotificationSetup, path: str = "/push/alice") -> PushedBrowser:
    return PushedBrowser(setup.web, await setup.notifications.browsers.public_key(), path)


async def _subscribed(
    setup: NotificationSetup, user: User, settings: TargetSettings = SETTINGS, path: str = "/push/alice"
) -> tuple[PushedBrowser, NotificationTarget]:
    browser = await _browser(setup, path)
    return browser, await setup.notifications.create_browser(user.id, browser.subscription, settings)


async def _break_feed(setup: NotificationSetup, user: User) -> None:
    await setup.entry(user, "one", "1")
    await setup.event(await setup.feed_id_of(user), FAILING)


async def test_a_browser_gets_what_only_it_can_read(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    browser, target = await _subscribed(setup, alice)
    await _break_feed(setup, alice)

    await setup.notifications.send()

    [received] = browser.received
    assert received["title"] == "Broken: Blog"
    assert received["path"].startswith("/feed/")
    assert b"Blog" not in browser.requests[0].body
    known = await setup.one(target)
    assert (known.waiting, known.last_success_at, known.last_error) == (0, setup.now, None)


async def test_a_hit_of_a_saved_search_opens_the_entry(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    search = await create_saved_search(setup.db, alice.id, "mills", "mill & wind")
    browser, _ = await _subscribed(setup, alice, replace(SETTINGS, search_ids=(search.id,), gap=0 * MINUTE))
    entry = await setup.entry(alice, "A mill & wind", "1")
    await index_missing_entries(setup.db)

    setup.now += 3 * MINUTE
    await setup.notifications.send()
    more = [await setup.entry(alice, f"A mill & wind {n}", f"more {n}") for n in range(2)]
    await index_missing_entries(setup.db)
    setup.now += 3 * MINUTE
    await setup.notifications.send()

    first, second = browser.received
    assert (first["title"], first["body"], first["path"]) == (
        "mills: one new item",
        "• A mill & wind",
        f"/item/{entry}",
    )
    assert len(more) == second["body"].count("•")
    assert second["path"] == "/search?q=mill+%26+wind"


async def test_a_browser_gets_the_digest(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    settings = TargetSettings("Firefox", (), digest=DigestPeriod.DAILY)
    browser, _ = await _subscribed(setup, alice, settings)
    await setup.unread_entry(alice, "A mill", "1")

    setup.now += 23 * 60 * MINUTE
    await setup.notifications.send()

    [received] = browser.received
    assert received == {"title": "One new item", "body": "• A mill", "path": "/unread"}


async def test_the_key_is_made_once_and_is_encrypted(setup: NotificationSetup, db: Database) -> None:
    first = await setup.notifications.browsers.public_key()
    other = NotificationSetup(db, setup.web)

    assert await other.notifications.browsers.public_key() == first
    assert str(await read_instance_value(db, KEY_NAME)).startswith("enc1:")


async def test_a_browser_that_subscribes_again_stays_one_target_with_its_choices(setup: NotificationSetup) -> None:
    alice, bob = await setup.reader("alice"), await setup.reader("bob")
    browser, target = await _subscribed(setup, alice)
    await setup.notifications.change(alice.id, target.id, replace(target.settings, name="My phone"))

    again = await setup.notifications.create_browser(alice.id, browser.subscription, SETTINGS)
    of_bob = await setup.notifications.create_browser(bob.id, browser.subscription, SETTINGS)

    assert (again.id, again.settings.name) == (target.id, "My phone")
    assert of_bob.id != target.id
    found = await setup.notifications.browsers.fingerprints(await setup.notifications.all(alice.id))
    assert found == {target.id: fingerprint(browser.subscription.endpoint)}


@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_that_ended_is_removed_with_what_waits(setup: NotificationSetup, status: int) -> None:
    alice = await setup.reader()
    gone, _ = await _subscribed(setup, alice)
    working, other = await _subscribed(setup, alice, path="/push/other")
    gone.answer(status)
    await _break_feed(setup, alice)

    await setup.notifications.send()

    assert [target.id for target in await setup.notifications.all(alice.id)] == [other.id]
    assert len(gone.requests) == len(working.received) == 1


async def test_a_busy_push_service_is_asked_again_when_it_says_so(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    browser, target = await _subscribed(setup, alice)
    browser.answer(500)
    await _break_feed(setup, alice)
    await setup.notifications.send()
    assert await setup.notifications.send() == 0

    known = await setup.one(target)
    assert (known.attempts, known.waiting, known.next_attempt_at) == (1, 1, setup.now + MINUTE)
    browser.answer(201)
    setup.now += MINUTE
    await setup.notifications.send()
    assert len(browser.received) == 2
    assert (await setup.one(target)).waiting == 0


async def test_an_address_inside_our_network_is_refused(db: Database) -> None:
    async with Web() as web, open_client(AddressPolicy([])) as client:
        setup = NotificationSetup(db, web, client=client)
        alice = await setup.reader()
        browser, target = await _subscribed(setup, alice)
        await _break_feed(setup, alice)
        await setup.notifications.send()
        assert browser.requests == []
        known = await setup.one(target)
        assert (known.waiting, known.last_error and known.last_error.code) == (0, "fetch.private_address")


async def test_a_redirect_is_not_followed(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    browser, target = await _subscribed(setup, alice)
    browser.answer(307, {"Location": f"http://127.0.0.1:{setup.web.port}/secret"})
    await _break_feed(setup, alice)

    await setup.notifications.send()

    assert setup.web.seen("/secret") == []
    assert (await setup.one(target)).attempts == 1


def _without(name: str) -> Callable[[PushSubscription], PushSubscription]:
    return lambda subscription: replace(subscription, **{name: ""})


@pytest.mark.parametrize(
    "spoil",
    [
        *map(_without, ("endpoint", "p256dh", "auth")),
        lambda found: replace(found, p256dh=found.p256dh[:-4] + "AAAA"),
        lambda found: replace(found, p256dh="A" * 10_000),
        lambda found: replace(found, auth="ü"),
        lambda found: replace(found, endpoint="javascript:alert(1)"),
        lambda found: replace(found, endpoint="https://user:password@push.example/"),
        lambda found: replace(found, endpoint="https://push.example/" + "a" * 3000),
    ],
)
async def test_what_is_no_subscription_is_refused(
    setup: NotificationSetup, spoil: Callable[[PushSubscription], PushSubscription]
) -> None:
    good = (await _browser(setup)).subscription
    assert check_subscription(good.endpoint, good.p256dh, good.auth) == good
    bad = spoil(good)

    with pytest.raises(BadInput):
        check_subscription(bad.endpoint, bad.p256dh, bad.auth)


async def test_charlie_sees_and_changes_nothing_of_alices_browsers(setup: NotificationSetup) -> None:
    alice, charlie = await setup.reader("alice"), await setup.reader("charlie")
    browser, target = await _subscribed(setup, alice)

    for call in (
        setup.notifications.one(charlie.id, target.id),
        setup.notifications.change(charlie.id, target.id, target.settings),
        setup.notifications.delete(charlie.id, target.id),
        setup.notifications.test(charlie.id, target.id),
    ):
        with pytest.raises(NotFound):
            await call
    await setup.notifications.create_browser(charlie.id, browser.subscription, SETTINGS)
    await _break_feed(setup, alice)
    await setup.notifications.send()
    assert len(browser.received) == 1
    assert browser.subscription.auth not in repr(await setup.one(target))


async def test_the_address_of_a_browser_is_not_changed_to_another(setup: NotificationSetup) -> None:
    alice = await setup.reader()
    _, target = await _subscribed(setup, alice)

    with pytest.raises(BadInput):
        await setup.notifications.change(alice.id, target.id, SETTINGS, "ntfys://ntfy.sh/topic")


async def test_a_lost_secret_key_is_said(setup: NotificationSetup, db: Database) -> None:
    alice = await setup.reader()
    _, target = await _subscribed(setup, alice)
    await _break_feed(setup, alice)
    object.__setattr__(setup.notifications.sender, "encryption", with_key("another key of this test"))

    await setup.notifications.send()

    known = await setup.one(target)
    assert (known.attempts, known.last_error and known.last_error.code) == (1, "login.other_key")


def test_a_long_message_is_cut_to_what_push_services_accept() -> None:
    content = push_content(NotificationMessage('"' * 5000, "", short="磨坊\n" * 2000, path="/unread"))

    assert len(content) < 3900
    assert json.loads(content)["body"].endswith("…")
