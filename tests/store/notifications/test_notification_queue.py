"""Targets and what waits for them on every database."""

from datetime import timedelta

from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted
from feedmill.model.notifications.notification_target import (
    CHOSEN_EVENTS,
    DigestPeriod,
    NotificationEvent,
    TargetSettings,
)
from feedmill.store.database import Database
from feedmill.store.leases import LEASE
from feedmill.store.notifications.digests import due_digests, record_digest
from feedmill.store.notifications.notification_queue import (
    record_failed_attempt,
    record_given_up,
    record_sent,
    step_to_queue_event,
    steps_to_queue_matches,
    take_targets,
    waiting_notifications,
)
from feedmill.store.notifications.targets import add_target, add_test_notification, change_target, target_of, targets_of
from feedmill.store.notifications.watched_searches import claim_check, due_searches, record_hits
from feedmill.store.schema import subscriptions
from feedmill.store.search.saved_searches import save_search
from tests.library.services.service_setup import ServiceSetup
from tests.library.webhooks.webhook_setup import MINUTE, NOW

URL = Encrypted("enc1:x:y")
REASON = Message("notification.timeout")


async def _feed_of_alice(db: Database) -> tuple[int, int]:
    setup = ServiceSetup(db, None, None)  # type: ignore[arg-type]
    alice = await setup.reader()
    await setup.entry(alice)
    [row] = await db.query(subscriptions.select())
    return alice.id, row["feed_id"]


def _settings(*searches: int) -> TargetSettings:
    return TargetSettings("phone", CHOSEN_EVENTS, searches, 5 * MINUTE)


async def test_what_waits_is_taken_together_and_settled_by_the_holder(any_db: Database) -> None:
    alice_id, feed_id = await _feed_of_alice(any_db)
    target = await add_target(any_db, alice_id, _settings(), None, "ntfys", URL, NOW)
    await any_db.batch(
        [
            step_to_queue_event(NotificationEvent.FEED_FAILING, feed_id, "t", NOW),
            *steps_to_queue_matches([alice_id, 99], feed_id, "t", NOW),
        ]
    )

    _, [taken] = await take_targets(any_db, NOW, 10)
    assert (await take_targets(any_db, NOW, 10))[1] == []
    ids = [each.id for each in await waiting_notifications(any_db, target.id, 10)]
    assert len(ids) == 2
    _, [again] = await take_targets(any_db, NOW + LEASE + timedelta(seconds=1), 10)
    assert not await record_sent(any_db, taken, ids, NOW)
    assert await record_failed_attempt(any_db, again, REASON, NOW + MINUTE)
    assert (await targets_of(any_db, alice_id))[0].attempts == 1

    _, [third] = await take_targets(any_db, NOW + MINUTE, 10)
    assert await record_sent(any_db, third, ids, NOW + MINUTE)
    known = await target_of(any_db, alice_id, target.id)
    assert known is not None
    assert (known.waiting, known.attempts, known.next_attempt_at) == (0, 0, NOW + 6 * MINUTE)
    assert await target_of(any_db, alice_id + 1, target.id) is None


async def test_what_is_given_up_is_deleted_and_the_target_goes_on(any_db: Database) -> None:
    alice_id, _ = await _feed_of_alice(any_db)
    target = await add_target(any_db, alice_id, _settings(), None, "ntfys", URL, NOW)
    await add_test_notification(any_db, target, NOW)
    _, [taken] = await take_targets(any_db, NOW, 10)
    [waiting] = await waiting_notifications(any_db, target.id, 10)

    assert await record_given_up(any_db, taken, [waiting.id], REASON, NOW)

    [known] = await targets_of(any_db, alice_id)
    assert (known.waiting, known.attempts, known.last_error) == (0, 0, REASON)


async def test_hits_of_a_search_are_queued_once(any_db: Database) -> None:
    alice_id, _ = await _feed_of_alice(any_db)
    search = await save_search(any_db, alice_id, "mills", "mill")
    target = await add_target(any_db, alice_id, _settings(search.id), None, "ntfys", URL, NOW)
    [watched] = await due_searches(any_db, NOW, 10)
    assert watched.after_entry_id > 0

    assert await claim_check(any_db, watched, NOW + MINUTE)
    assert not await claim_check(any_db, watched, NOW + MINUTE)
    await record_hits(any_db, watched, [100, 101], NOW)
    await record_hits(any_db, watched, [100, 101], NOW)

    [waiting] = await waiting_notifications(any_db, target.id, 10)
    assert (waiting.event, waiting.search_id, waiting.entry_ids) == ("search.hits", search.id, (100, 101))
    await change_target(any_db, target, _settings(), None, ("gotify", URL), NOW)
    [known] = await targets_of(any_db, alice_id)
    assert (known.settings.search_ids, known.scheme) == ((), "gotify")


async def test_a_digest_is_queued_once_and_the_next_is_due_later(any_db: Database) -> None:
    alice_id, _ = await _feed_of_alice(any_db)
    settings = TargetSettings("phone", (), digest=DigestPeriod.DAILY)
    target = await add_target(any_db, alice_id, settings, NOW, "ntfys", URL, NOW)
    [due] = await due_digests(any_db, NOW, 10)

    await record_digest(any_db, due, [5, 6], NOW + MINUTE, NOW)
    await record_digest(any_db, due, [5, 6], NOW + MINUTE, NOW)

    [waiting] = await waiting_notifications(any_db, target.id, 10)
    assert (waiting.event, waiting.entry_ids) == ("digest", (5, 6))
    assert await due_digests(any_db, NOW, 10) == []
    assert len(await due_digests(any_db, NOW + MINUTE, 10)) == 1
