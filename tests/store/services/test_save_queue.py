"""The queue of saves on every database: each save once, taken by one process, settled by its holder."""

from dataclasses import replace
from datetime import timedelta

from sqlalchemy import select

from feedmill.i18n.messages import Message
from feedmill.model.encrypted import Encrypted
from feedmill.model.services.save_service import SaveFailed, SaveStatus, ServiceKind
from feedmill.store.database import Database
from feedmill.store.schema import entries
from feedmill.store.services.save_queue import postpone_saves, record_failed_save, record_saved, take_saves
from feedmill.store.services.saves import retry_failed_saves, saves_of_entry, saves_of_service, steps_to_queue_saves
from feedmill.store.services.services import StoredService, add_service, change_service, drop_service, services_of
from tests.busy_database import BusyDatabase
from tests.library.services.service_setup import ServiceSetup
from tests.library.webhooks.webhook_setup import MINUTE, NOW

STORED = StoredService(ServiceKind.LINKDING, "Links", Encrypted("enc1:x:y"), by_key=True)


async def _queued(db: Database) -> tuple[int, int, list[int]]:
    """A user, their service, and three entries that wait for it."""
    setup = ServiceSetup(db, None, None)  # type: ignore[arg-type]
    alice = await setup.reader()
    ids = [await setup.entry(alice, guid=guid) for guid in "abc"]
    service = await add_service(db, alice.id, STORED, NOW)
    await db.batch(steps_to_queue_saves(service.id, [*ids, 10_000], NOW))
    return alice.id, service.id, ids


async def test_two_services_added_at_once_are_told_apart(any_db: Database) -> None:
    alice = await ServiceSetup(any_db, None, None).reader()  # type: ignore[arg-type]
    other = replace(STORED, options=Encrypted("enc1:other:y"))
    busy = BusyDatabase(any_db, lambda: add_service(any_db, alice.id, other, NOW))

    made = await add_service(busy, alice.id, STORED, NOW)  # type: ignore[arg-type]

    assert made.id == min(each.id for each in await services_of(any_db, alice.id))


async def test_queueing_twice_keeps_one_save_for_each_entry(any_db: Database) -> None:
    _, service_id, ids = await _queued(any_db)

    await any_db.batch(steps_to_queue_saves(service_id, ids, NOW))

    assert [save.entry_id for save in await saves_of_service(any_db, service_id, 10_000, 10)] == ids[::-1]


async def test_each_result_is_recorded_by_its_holder(any_db: Database) -> None:
    alice_id, service_id, ids = await _queued(any_db)
    _, [first, second, third] = await take_saves(any_db, NOW, 10, 10)
    assert (await take_saves(any_db, NOW, 10, 10))[1] == []

    assert await record_saved(any_db, first, 201, NOW)
    assert await record_failed_save(any_db, second, SaveFailed(Message("service.answered", status=400), None, 400), NOW)
    assert not await record_saved(any_db, first, 201, NOW)
    await postpone_saves(any_db, third, NOW + MINUTE, NOW)

    saves = {save.entry_id: save for save in await saves_of_service(any_db, service_id, 10_000, 10)}
    assert [saves[id].status for id in ids] == [SaveStatus.SAVED, SaveStatus.FAILED, SaveStatus.PENDING]
    assert (saves[ids[1]].attempts, saves[ids[2]].attempts) == (1, 0)
    assert await retry_failed_saves(any_db, service_id, NOW) == 1
    assert await change_service(any_db, alice_id, service_id, STORED, NOW)
    assert len((await take_saves(any_db, NOW, 10, 10))[1]) == 2


async def test_one_service_does_not_take_all_turns(any_db: Database) -> None:
    alice_id, _, ids = await _queued(any_db)
    other = await add_service(any_db, alice_id, STORED, NOW)
    await any_db.batch(steps_to_queue_saves(other.id, ids[:1], NOW + timedelta(seconds=1)))

    _, taken = await take_saves(any_db, NOW + MINUTE, 10, 2)

    assert sorted(save.save.service_id for save in taken)[-1] == other.id
    assert len(taken) == 3


async def test_saves_go_with_their_service_and_their_entry(any_db: Database) -> None:
    alice_id, service_id, ids = await _queued(any_db)
    assert len(await saves_of_entry(any_db, alice_id, ids[0])) == 1
    assert await saves_of_entry(any_db, alice_id + 1, ids[0]) == []

    assert not await drop_service(any_db, alice_id + 1, service_id)
    assert await drop_service(any_db, alice_id, service_id)

    assert await saves_of_entry(any_db, alice_id, ids[0]) == []
    assert len(await any_db.query(select(entries.c.id))) == 3
