"""The action that saves entries to a service: in the atomic write of a refresh, and backwards; each entry once."""

import pytest
from sqlalchemy import delete, select

from feedmill.errors import NotFound
from feedmill.library.filters import filter_jobs as jobs
from feedmill.library.filters.effects import effects_of_entry, undo_effect
from feedmill.model.encrypted import Encrypted
from feedmill.model.filters.entry_filter import FilterAction, FilterActions
from feedmill.model.services.save_service import ServiceKind
from feedmill.model.user import User
from feedmill.store.database import Database, Step
from feedmill.store.schema import entries, service_saves, services
from feedmill.store.services.save_queue import take_saves
from feedmill.store.services.saves import steps_to_queue_saves
from feedmill.store.services.services import StoredService, add_service
from tests.flows.refresh_environment import RefreshEnvironment, item
from tests.library.filters.test_filter_jobs import Stored
from tests.library.filters.test_user_filters_in_refresh import Readers
from tests.library.small_library import NOW

SAVE = FilterAction.SAVE


@pytest.fixture
async def readers(any_env: RefreshEnvironment) -> Readers:
    return await Readers.of(any_env)


@pytest.fixture
async def stored(any_db: Database) -> Stored:
    return await Stored.of(any_db)


async def _service(db: Database, user: User, name: str = "Links") -> int:
    new = StoredService(ServiceKind.LINKDING, name, Encrypted("enc1:"), by_key=True)
    return (await add_service(db, user.id, new, NOW)).id


async def _queued(db: Database) -> list[tuple[int, str]]:
    """Service and title of what waits."""
    rows = await db.query(
        select(service_saves.c.service_id, entries.c.title).join(entries, entries.c.id == service_saves.c.entry_id)
    )
    return sorted((row["service_id"], row["title"]) for row in rows)


async def test_new_entries_are_queued_for_the_services_of_the_filter(readers: Readers) -> None:
    db = readers.env.db
    links, reader = await _service(db, readers.alice), await _service(db, readers.alice, "Reader")
    of_bob = await _service(db, readers.bob)
    await readers.filter(readers.alice, "mill", FilterActions(service_ids=(links, reader)))
    await readers.filter(readers.bob, "pond", FilterActions(service_ids=(of_bob,)))

    await readers.arrive(item("mill"), item("pond"), item("other"))
    await readers.arrive(item("mill"), item("pond"), item("other"))

    assert await _queued(db) == sorted([(links, "mill"), (reader, "mill"), (of_bob, "pond")])
    assert await readers.effects(readers.alice) == [("mill", SAVE, "mill"), ("mill", SAVE, "mill")]
    _, taken = await take_saves(db, readers.env.now, 100, 20)
    assert {each.user_id for each in taken} == {readers.alice.id, readers.bob.id}


async def test_two_filters_save_an_entry_once(readers: Readers) -> None:
    db, links = readers.env.db, await _service(readers.env.db, readers.alice)
    await readers.filter(readers.alice, "mill", FilterActions(service_ids=(links,)))
    await readers.filter(readers.alice, "wind", FilterActions(service_ids=(links,)))

    await readers.arrive(item("mill wind"))

    assert await _queued(db) == [(links, "mill wind")]
    assert len(await readers.effects(readers.alice)) == 1


async def test_a_service_that_was_deleted_is_left_out(readers: Readers) -> None:
    db, links = readers.env.db, await _service(readers.env.db, readers.alice)
    await readers.filter(readers.alice, "mill", FilterActions(star=True, service_ids=(links,)))
    await db.batch([Step(delete(services), {})])

    await readers.arrive(item("mill"))

    assert await _queued(db) == []
    assert await readers.marked(readers.alice, "starred_at") == ["mill"]


async def test_a_service_of_somebody_else_is_not_found(readers: Readers) -> None:
    of_bob = await _service(readers.env.db, readers.bob)

    with pytest.raises(NotFound):
        await readers.filter(readers.alice, "mill", FilterActions(service_ids=(of_bob,)))
    assert await _queued(readers.env.db) == []


async def test_stored_entries_are_queued_once_and_an_undo_drops_what_was_not_sent(stored: Stored) -> None:
    db, links = stored.db, await _service(stored.db, stored.alice)
    known, claimed = stored.ids["kilns 1"], stored.ids["kilns 2"]
    await db.batch(steps_to_queue_saves(links, [known], NOW))
    own = await stored.filter(stored.alice, "kilns", FilterActions(service_ids=(links,)))

    job = await jobs.apply_backwards(db, stored.alice.id, own.id, NOW)
    await stored.work()
    again = await jobs.apply_backwards(db, stored.alice.id, own.id, stored.now)
    await stored.work()

    assert len(await _queued(db)) == 5
    assert (await jobs.find_filter_job(db, stored.alice.id, job.id)).changed == 4
    assert (await jobs.find_filter_job(db, stored.alice.id, again.id)).changed == 0
    is_claimed = service_saves.c.entry_id == claimed
    await db.batch([Step(service_saves.update().where(is_claimed).values(claim_token="t" * 32), {})])
    await jobs.undo_job(db, stored.alice.id, job.id, stored.now)
    await stored.work()
    assert await _queued(db) == [(links, "kilns 1"), (links, "kilns 2")]


async def test_an_article_says_which_filter_saved_it_and_can_take_it_back(stored: Stored) -> None:
    db, links = stored.db, await _service(stored.db, stored.alice)
    own = await stored.filter(stored.alice, "glaze", FilterActions(service_ids=(links,)))
    await jobs.apply_backwards(db, stored.alice.id, own.id, NOW)
    await stored.work()

    [effect] = await effects_of_entry(db, stored.alice.id, stored.ids["glaze"])
    assert (effect.action, effect.target_name, effect.can_undo) == (SAVE, "Links", True)
    await undo_effect(db, stored.alice.id, stored.ids["glaze"], SAVE, links, stored.now)
    assert await _queued(db) == []
