"""A filter is applied to stored entries as a job, in chunks; a job can be killed at any point, run twice and undone."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select, text
from structlog.testing import capture_logs

from feedmill.errors import NotFound, StatementRefused
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.marks import apply_marks
from feedmill.library.filters import filter_jobs as jobs
from feedmill.library.filters.effects import effects_of_entries
from feedmill.library.filters.manage_filters import (
    change_filter,
    create_filter,
    delete_filter,
    enable_filter,
    find_filter,
)
from feedmill.library.filters.mutes import FilterPeriod, follow, mute
from feedmill.library.filters.work_on_jobs import MAX_ATTEMPTS, FilterJobWorker
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.filters.entry_filter import (
    EntryFilter,
    FilterAction,
    FilterActions,
    FilterDraft,
    FilterScope,
    FilterSubject,
    ScopeKind,
)
from feedmill.model.user import SCOPES, Caller, User
from feedmill.store.archive.database_load import end_loading
from feedmill.store.database import Database, Params, Row, Step
from feedmill.store.filters.apply_to_stored import HITS, StoredMatches, steps_to_apply
from feedmill.store.filters.filter_jobs import FilterJobLost, start_filter_job, take_filter_job
from feedmill.store.filters.filters import purge_deleted_filters
from feedmill.store.leases import LEASE
from feedmill.store.schema import (
    entries,
    entry_labels,
    filter_effects,
    filter_jobs,
    filters,
    states,
    subscriptions,
    unread,
    users,
)
from feedmill.store.search.index_missing_entries import index_missing_entries
from tests.library.filters.counting_clock import CountingClock
from tests.library.small_library import DAY, NOW, SmallLibrary

STAR, HIDE = FilterActions(star=True), FilterActions(hide=True)
CHUNK = 2


@dataclass
class Stored:
    """Alice and Bob read a feed with five entries about kilns and one about glaze."""

    db: Database
    library: SmallLibrary
    alice: User
    bob: User
    feed: int
    ids: dict[str, int]
    now: datetime = NOW

    @classmethod
    async def of(cls, db: Database) -> "Stored":
        library = SmallLibrary(db)
        alice, bob = await library.person("alice"), await library.person("bob")
        feed = await library.feed()
        await library.subscribe(alice, feed)
        await library.subscribe(bob, feed)
        titles = [f"kilns {number}" for number in range(1, 6)]
        found = await library.arrive(feed, *titles, "glaze")
        return cls(db, library, alice, bob, feed, dict(zip([*titles, "glaze"], found, strict=True)))

    def worker(self, db: Database | None = None, **more: Any) -> FilterJobWorker:
        return FilterJobWorker(db or self.db, clock=lambda: self.now, chunk_size=CHUNK, **more)

    async def filter(self, user: User, condition: str, actions: FilterActions) -> EntryFilter:
        draft = FilterDraft(condition, condition, actions=actions)
        return await create_filter(self.db, Caller(user, frozenset(SCOPES)), draft, self.now)

    async def work(self) -> None:
        """Works until there is nothing left to do."""
        worker = self.worker()
        while await worker.work():
            self.now += timedelta(seconds=1)

    async def starred(self, user: User) -> list[str]:
        titles = {id: title for title, id in self.ids.items()}
        own = select(states.c.entry_id).where(states.c.user_id == user.id, states.c.starred_at.is_not(None))
        return sorted(titles[row["entry_id"]] for row in await self.db.query(own))

    async def unread(self, user: User) -> list[str]:
        own = select(entries.c.title).join(unread, unread.c.entry_id == entries.c.id)
        own = own.join(users, users.c.unread_list_id == unread.c.list_id).where(users.c.id == user.id)
        return sorted(row["title"] for row in await self.db.query(own))

    async def effects(self, user: User) -> int:
        return sum(len(some) for some in (await effects_of_entries(self.db, user.id, list(self.ids.values()))).values())


ALL_KILNS = [f"kilns {number}" for number in range(1, 6)]


@pytest.fixture
async def stored(any_db: Database) -> Stored:
    return await Stored.of(any_db)


async def test_a_filter_is_applied_to_what_is_stored_with_progress(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)

    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    joined = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()

    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert joined.id == job.id
    assert (done.status, done.total, done.looked_at, done.changed) == ("done", 5, 5, 5)
    assert (done.filter_name, done.can_undo) == ("kilns", True)
    assert await stored.starred(stored.alice) == ALL_KILNS
    assert await stored.starred(stored.bob) == []
    counted = await find_filter(stored.db, stored.alice.id, own.id)
    assert (counted.hit_count, counted.last_hit_at is not None) == (5, True)


async def test_a_filter_is_applied_when_all_entries_of_a_loaded_backup_are_indexed(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    await stored.db.batch([Step(text("DELETE FROM search_texts"))])
    await end_loading(stored.db)

    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    chunks_before = await stored.worker().work()
    await index_missing_entries(stored.db)
    await stored.work()

    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (job.waits_for_index, chunks_before) == (True, 0)
    assert (done.status, done.changed, done.waits_for_index) == ("done", 5, False)


async def test_a_job_goes_on_where_it_was_when_the_index_is_complete_again(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.worker(turn=timedelta(0)).work()
    await stored.db.batch([Step(text("DELETE FROM search_texts"))])
    await end_loading(stored.db)

    await stored.work()
    before = await stored.starred(stored.alice)
    await index_missing_entries(stored.db)
    await stored.work()

    assert before == ["kilns 4", "kilns 5"]
    assert await stored.starred(stored.alice) == ALL_KILNS


async def test_an_undo_does_not_wait_for_the_index(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    await end_loading(stored.db)

    await jobs.undo_job(stored.db, stored.alice.id, job.id, stored.now)
    await stored.work()

    assert await stored.starred(stored.alice) == []


async def test_every_action_but_a_notification_is_applied(stored: Stored) -> None:
    label = await ensure_label(stored.db, stored.alice.id, "work")
    actions = FilterActions(read=True, star=True, later=True, notify=True, full_text=True, label_ids=(label,))
    own = await stored.filter(stored.alice, "glaze", actions)

    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()

    [found] = (await effects_of_entries(stored.db, stored.alice.id, [stored.ids["glaze"]])).values()
    assert {effect.action for effect in found} == set(FilterAction) - {
        FilterAction.HIDE,
        FilterAction.RAISE,
        FilterAction.NOTIFY,
        FilterAction.POOL,
        FilterAction.SAVE,
    }
    assert await stored.library.unread_of(stored.alice) == (5, 5)
    assert len(await stored.db.query(select(entry_labels))) == 1


async def test_only_what_is_changed_is_recorded(stored: Stored) -> None:
    one, two = stored.ids["kilns 1"], stored.ids["kilns 2"]
    await apply_marks(stored.db, stored.alice.id, [one], EntryMarks(starred=True), NOW)
    await apply_marks(stored.db, stored.alice.id, [two], EntryMarks(read=True), NOW)
    own = await stored.filter(stored.alice, "kilns", FilterActions(star=True, hide=True))

    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    await jobs.undo_job(stored.db, stored.alice.id, job.id, stored.now)
    await stored.work()

    assert await stored.starred(stored.alice) == ["kilns 1"]
    assert await stored.unread(stored.alice) == ["glaze", "kilns 1", "kilns 3", "kilns 4", "kilns 5"]
    assert await stored.library.unread_of(stored.alice) == (5, 5)


async def test_an_undo_leaves_what_the_user_did_since(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    await apply_marks(stored.db, stored.alice.id, [stored.ids["kilns 3"]], EntryMarks(starred=True), stored.now)

    undo = await jobs.undo_job(stored.db, stored.alice.id, job.id, stored.now)
    await stored.work()

    done = await jobs.find_filter_job(stored.db, stored.alice.id, undo.id)
    assert (done.kind, done.status, done.total, done.changed) == ("undo", "done", 4, 4)
    assert (done.undoes_job_id, done.can_undo) == (job.id, False)
    assert await stored.starred(stored.alice) == ["kilns 3"]
    assert await stored.effects(stored.alice) == 0


async def test_an_undo_of_one_job_leaves_the_others(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns 1", STAR)
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    draft = FilterDraft("kilns", "kilns", actions=STAR)
    await change_filter(stored.db, Caller(stored.alice, frozenset(SCOPES)), own.id, draft, stored.now)
    second = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, stored.now)
    await stored.work()

    await jobs.undo_job(stored.db, stored.alice.id, second.id, stored.now)
    await stored.work()

    assert await stored.starred(stored.alice) == ["kilns 1"]


async def test_all_that_a_filter_did_is_reverted_also_after_it_was_deleted(stored: Stored) -> None:
    own, _ = await mute(stored.db, stored.alice.id, FilterSubject("word", "kilns"), NOW)
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    hidden = await stored.unread(stored.alice)

    job = await delete_filter(stored.db, stored.alice.id, own.id, stored.now, revert=True)
    await stored.work()

    assert hidden == ["glaze"]
    assert job is not None
    assert job.kind == "revert"
    assert await stored.unread(stored.alice) == ["glaze", *ALL_KILNS]
    assert await stored.library.unread_of(stored.alice) == (6, 6)


async def test_a_deleted_filter_stays_as_long_as_something_is_left_of_its_work(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()

    await delete_filter(stored.db, stored.alice.id, own.id, stored.now)
    kept = await purge_deleted_filters(stored.db, stored.now + DAY)
    shown = await effects_of_entries(stored.db, stored.alice.id, [stored.ids["kilns 1"]])
    everything = EntryMarks(starred=False)
    await apply_marks(stored.db, stored.alice.id, list(stored.ids.values()), everything, stored.now)
    purged = await purge_deleted_filters(stored.db, stored.now + DAY)

    assert (kept, purged) == (0, 1)
    assert [(one.filter_name, one.is_deleted) for one in shown[stored.ids["kilns 1"]]] == [("kilns", True)]
    assert await stored.db.query(select(filters)) == await stored.db.query(select(filter_jobs)) == []


async def test_jobs_are_their_owners(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)

    for attempt in (
        jobs.apply_backwards(stored.db, stored.bob.id, own.id, NOW),
        jobs.revert_filter(stored.db, stored.bob.id, own.id, NOW),
        jobs.jobs_of_filter(stored.db, stored.bob.id, own.id),
        jobs.find_filter_job(stored.db, stored.bob.id, job.id),
        jobs.undo_job(stored.db, stored.bob.id, job.id, NOW),
        jobs.cancel_filter_job(stored.db, stored.bob.id, job.id, NOW),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert await jobs.running_filter_jobs(stored.db, stored.bob.id) == []
    assert [each.id for each in await jobs.running_filter_jobs(stored.db, stored.alice.id)] == [job.id]


async def test_a_cancelled_job_stops_and_what_it_did_can_be_undone(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.worker(turn=timedelta(0)).work()

    assert await jobs.cancel_filter_job(stored.db, stored.alice.id, job.id, stored.now)
    assert not await jobs.cancel_filter_job(stored.db, stored.alice.id, job.id, stored.now)
    await stored.work()
    half = await stored.starred(stored.alice)
    with pytest.raises(jobs.NothingToUndo):
        await jobs.undo_job(stored.db, stored.alice.id, (await _running_undo(stored, job.id)), stored.now)
    await stored.work()

    assert half == ["kilns 4", "kilns 5"]
    assert await stored.starred(stored.alice) == []


async def _running_undo(stored: Stored, job_id: int) -> int:
    return (await jobs.undo_job(stored.db, stored.alice.id, job_id, stored.now)).id


async def test_a_change_of_the_filter_ends_the_job_that_applies_it(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.worker(turn=timedelta(0)).work()

    draft = FilterDraft("kilns", "glaze", actions=STAR)
    await change_filter(stored.db, Caller(stored.alice, frozenset(SCOPES)), own.id, draft, stored.now)
    await stored.work()

    assert (await jobs.find_filter_job(stored.db, stored.alice.id, job.id)).status == "cancelled"
    assert await stored.starred(stored.alice) == ["kilns 4", "kilns 5"]


async def half_applied(stored: Stored) -> tuple[EntryFilter, int]:
    """A filter of Alice's, and the job that has applied it to two of five entries."""
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.worker(turn=timedelta(0)).work()
    return own, job.id


async def test_turning_a_filter_off_ends_the_job_that_applies_it(stored: Stored) -> None:
    own, job_id = await half_applied(stored)

    await enable_filter(stored.db, stored.alice.id, own.id, stored.now, enabled=False)
    await stored.work()

    assert (await jobs.find_filter_job(stored.db, stored.alice.id, job_id)).status == "cancelled"
    assert await stored.starred(stored.alice) == ["kilns 4", "kilns 5"]


async def test_nothing_is_left_of_a_job_when_its_filter_is_turned_off_and_reverted(stored: Stored) -> None:
    own, job_id = await half_applied(stored)

    await enable_filter(stored.db, stored.alice.id, own.id, stored.now, enabled=False, revert=True)
    await stored.work()

    assert (await jobs.find_filter_job(stored.db, stored.alice.id, job_id)).status == "cancelled"
    assert await stored.starred(stored.alice) == []


async def test_a_revert_ends_the_job_that_applies_the_filter(stored: Stored) -> None:
    own, job_id = await half_applied(stored)

    await jobs.revert_filter(stored.db, stored.alice.id, own.id, stored.now)
    await stored.work()

    assert (await jobs.find_filter_job(stored.db, stored.alice.id, job_id)).status == "cancelled"
    assert await stored.starred(stored.alice) == []


async def test_a_filter_that_is_off_is_not_applied(stored: Stored) -> None:
    own, job_id = await half_applied(stored)
    await enable_filter(stored.db, stored.alice.id, own.id, stored.now, enabled=False)

    with pytest.raises(jobs.FilterIsOff):
        await jobs.apply_backwards(stored.db, stored.alice.id, own.id, stored.now)
    with pytest.raises(jobs.FilterIsOff):
        await jobs.start_job_again(stored.db, stored.alice.id, job_id, stored.now)
    # It was started while the filter was being turned off.
    await start_filter_job(stored.db, stored.alice.id, own.id, "apply", stored.now)
    await stored.work()

    assert await stored.starred(stored.alice) == ["kilns 4", "kilns 5"]


# --- reverts and other clocks ---------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["revert", "off", "delete", "undo"])
async def test_what_a_machine_with_a_later_clock_did_is_taken_back_too(stored: Stored, way: str) -> None:
    stored.now = NOW + DAY
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()

    match way:
        case "revert":
            await jobs.revert_filter(stored.db, stored.alice.id, own.id, NOW)
        case "off":
            await enable_filter(stored.db, stored.alice.id, own.id, NOW, enabled=False, revert=True)
        case "delete":
            await delete_filter(stored.db, stored.alice.id, own.id, NOW, revert=True)
        case "undo":
            await jobs.undo_job(stored.db, stored.alice.id, job.id, NOW)
    await stored.work()

    assert await stored.starred(stored.alice) == []
    assert await stored.effects(stored.alice) == 0


async def star_new_entries(stored: Stored, own: EntryFilter, *titles: str) -> None:
    """New entries, on which the filter acts as in a refresh."""
    added = await stored.library.arrive(stored.feed, *titles)
    stored.ids |= dict(zip(titles, added, strict=True))
    matches = StoredMatches(own.id, own.user_id, added)
    await stored.db.batch(steps_to_apply(matches, own.actions.targets, stored.now, stored.now))


async def half_reverted(stored: Stored) -> EntryFilter:
    """A filter that is on, and of whose work two entries of five are taken back; then it starred another."""
    own = await stored.filter(stored.alice, "kilns", STAR)
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    await jobs.revert_filter(stored.db, stored.alice.id, own.id, stored.now)
    await stored.worker(turn=timedelta(0)).work()
    stored.now += timedelta(seconds=1)
    await star_new_entries(stored, own, "kilns 6")
    return own


async def test_a_revert_leaves_what_the_filter_does_while_it_runs(stored: Stored) -> None:
    await half_reverted(stored)

    await stored.work()

    assert await stored.starred(stored.alice) == ["kilns 6"]


async def test_a_second_revert_takes_back_what_came_during_the_first(stored: Stored) -> None:
    own = await half_reverted(stored)

    await jobs.revert_filter(stored.db, stored.alice.id, own.id, stored.now)
    await stored.work()

    assert await stored.starred(stored.alice) == []
    assert await jobs.running_filter_jobs(stored.db, stored.alice.id) == []


async def test_a_revert_leaves_what_a_later_job_does(stored: Stored) -> None:
    own = await half_reverted(stored)

    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, stored.now)
    await stored.work()

    assert {"kilns 1", "kilns 2", "kilns 6"} <= set(await stored.starred(stored.alice))


async def test_a_deleted_filter_is_reverted_as_long_as_something_is_left_of_its_work(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    await delete_filter(stored.db, stored.alice.id, own.id, stored.now)

    with pytest.raises(NotFound):
        await jobs.revert_filter(stored.db, stored.bob.id, own.id, stored.now)
    await jobs.revert_filter(stored.db, stored.alice.id, own.id, stored.now)
    await stored.work()

    assert await stored.starred(stored.alice) == []
    with pytest.raises(NotFound):
        await jobs.revert_filter(stored.db, stored.alice.id, own.id, stored.now)


# --- killed and run twice -----------------------------------------------------------------------------------


class Killed(BaseException):
    """The process is gone."""


@dataclass
class FailingDatabase:
    """A database whose process is killed before its nth batch, or right after it."""

    inner: Database
    dies_at: int
    after: bool
    batches: int = 0

    @property
    def dialect_name(self) -> str:
        return self.inner.dialect_name

    async def query(self, statement: Any, params: Params | None = None) -> list[Row]:
        return await self.inner.query(statement, params or {})

    async def batch(self, steps: list[Step]) -> list[int]:
        self.batches += 1
        if self.batches > self.dies_at or (self.batches == self.dies_at and not self.after):
            raise Killed
        done = await self.inner.batch(steps)
        if self.batches == self.dies_at:
            raise Killed
        return done


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 6))
async def test_a_job_that_is_killed_continues_where_it_was(stored: Stored, dies_at: int, after: bool) -> None:
    own = await stored.filter(stored.alice, "kilns", FilterActions(star=True, hide=True))
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)

    with pytest.raises(Killed):
        await stored.worker(FailingDatabase(stored.db, dies_at, after)).work()  # type: ignore[arg-type]
    stored.now += LEASE
    await stored.work()

    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (done.status, done.looked_at, done.changed) == ("done", 5, 5)
    assert await stored.starred(stored.alice) == ALL_KILNS
    assert await stored.library.unread_of(stored.alice) == (1, 1)
    assert await stored.effects(stored.alice) == 10
    assert (await find_filter(stored.db, stored.alice.id, own.id)).hit_count == 5


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("dies_at", range(1, 6))
async def test_an_undo_that_is_killed_continues_where_it_was(stored: Stored, dies_at: int, after: bool) -> None:
    own = await stored.filter(stored.alice, "kilns", FilterActions(star=True, hide=True))
    await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()
    await jobs.revert_filter(stored.db, stored.alice.id, own.id, stored.now)

    with pytest.raises(Killed):
        await stored.worker(FailingDatabase(stored.db, dies_at, after)).work()  # type: ignore[arg-type]
    stored.now += LEASE
    await stored.work()

    assert await stored.starred(stored.alice) == []
    assert await stored.library.unread_of(stored.alice) == (6, 6)
    assert await stored.db.query(select(filter_effects)) == []


# --- failing -------------------------------------------------------------------------------------------------


class RefusingDatabase(FailingDatabase):
    """A database that refuses what a filter writes to entries, each time."""

    async def batch(self, steps: list[Step]) -> list[int]:
        if any(step.statement is HITS for step in steps):
            raise StatementRefused("too many pears")
        return await self.inner.batch(steps)


@dataclass
class AddingDatabase(FailingDatabase):
    """A database that gets one more step with what a filter writes to entries."""

    added: Step = field(kw_only=True)

    async def batch(self, steps: list[Step]) -> list[int]:
        is_chunk = any(step.statement is HITS for step in steps)
        return await self.inner.batch([*steps, self.added] if is_chunk else steps)


async def fail_attempts(stored: Stored, number: int) -> None:
    refusing = RefusingDatabase(stored.db, 0, after=False)
    for _ in range(number):
        await stored.worker(refusing).work()  # type: ignore[arg-type]
        stored.now += LEASE


async def test_a_job_that_fails_again_and_again_ends_with_the_reason(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)

    await fail_attempts(stored, MAX_ATTEMPTS - 1)
    waiting = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    await fail_attempts(stored, 1)

    failed = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (waiting.status, failed.status) == ("running", "failed")
    assert failed.finished_at is not None
    assert "too many pears" in str(failed.last_error)
    assert await stored.worker().work() == 0


async def test_a_failed_job_is_started_again(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await fail_attempts(stored, MAX_ATTEMPTS)

    again = await jobs.start_job_again(stored.db, stored.alice.id, job.id, stored.now)
    await stored.work()

    assert again.id != job.id
    assert (await jobs.find_filter_job(stored.db, stored.alice.id, again.id)).status == "done"
    assert await stored.starred(stored.alice) == ALL_KILNS
    with pytest.raises(jobs.NothingToRepeat):
        await jobs.start_job_again(stored.db, stored.alice.id, again.id, stored.now)
    with pytest.raises(NotFound):
        await jobs.start_job_again(stored.db, stored.bob.id, job.id, stored.now)


async def test_an_attempt_after_progress_is_the_first(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await fail_attempts(stored, MAX_ATTEMPTS - 1)

    await stored.worker(turn=timedelta(0)).work()
    await fail_attempts(stored, MAX_ATTEMPTS - 1)
    await stored.work()

    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (done.status, done.changed, done.last_error) == ("done", 5, None)


async def test_a_job_that_kills_its_process_each_time_has_failed(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)

    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(Killed):
            await stored.worker(FailingDatabase(stored.db, 1, after=True)).work()  # type: ignore[arg-type]
        stored.now += LEASE
    await stored.work()

    failed = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (failed.status, failed.last_error) == ("failed", Message("job.died"))


async def test_a_worker_that_lost_its_job_writes_nothing(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    lost = await take_filter_job(stored.db, stored.now)
    assert lost is not None
    slow = stored.worker()
    work = await slow._applying(lost)

    stored.now += LEASE
    await stored.work()
    await apply_marks(stored.db, stored.alice.id, list(stored.ids.values()), EntryMarks(starred=False), stored.now)
    with pytest.raises(FilterJobLost):
        await work(lost)

    assert await stored.starred(stored.alice) == []
    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (done.status, done.looked_at) == ("done", 5)


async def test_a_violated_constraint_of_a_chunk_is_a_failure_and_no_lost_job(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    added = Step(filter_effects.update().values(filter_id=None))

    with capture_logs() as logged:
        await stored.worker(AddingDatabase(stored.db, 0, False, added=added)).work()  # type: ignore[arg-type]

    tried = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert [line["event"] for line in logged if line["event"].startswith("filter_job")] == ["filter_job_attempt_failed"]
    assert tried.status == "running"
    assert "filter_id" in str(tried.last_error)


async def test_two_users_jobs_take_turns(stored: Stored) -> None:
    for user in (stored.alice, stored.bob):
        own = await stored.filter(user, "kilns", STAR)
        await jobs.apply_backwards(stored.db, user.id, own.id, stored.now)
    worker = stored.worker(turn=timedelta(0))

    for _ in range(2):
        stored.now += timedelta(seconds=1)
        await worker.work()

    assert await stored.starred(stored.alice) == await stored.starred(stored.bob) == ["kilns 4", "kilns 5"]
    await stored.work()
    assert await stored.starred(stored.alice) == await stored.starred(stored.bob) == ALL_KILNS


async def test_a_job_is_watched_until_it_ends(db: Database) -> None:
    stored = await Stored.of(db)
    own = await stored.filter(stored.alice, "kilns", STAR)
    job = await jobs.apply_backwards(db, stored.alice.id, own.id, NOW)
    seen = []

    async for progress in jobs.watch_filter_job(db, stored.alice.id, job.id):
        seen.append((progress.status, progress.looked_at))
        await stored.worker(turn=timedelta(0)).work()

    assert seen[0] == ("running", 0)
    assert seen[-1] == ("done", 5)


async def test_a_filter_with_a_regular_expression_is_applied_too(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "in:title:/kilns [12]$/", STAR)

    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()

    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert await stored.starred(stored.alice) == ["kilns 1", "kilns 2"]
    assert (done.total, done.looked_at, done.changed) == (6, 6, 2)


async def test_a_slow_expression_ends_a_chunk_early_and_leaves_nothing_out(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "in:title:/kilns [1-5]$/", STAR)
    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    slow = FilterJobWorker(
        stored.db, clock=lambda: stored.now, seconds=CountingClock(), chunk_size=100, turn=timedelta(seconds=2)
    )

    chunks = []
    while await slow.work():
        chunks.append((await jobs.find_filter_job(stored.db, stored.alice.id, job.id)).looked_at)

    done = await jobs.find_filter_job(stored.db, stored.alice.id, job.id)
    assert (done.status, done.looked_at, done.changed) == ("done", 6, 5)
    assert chunks[0] == 2
    assert await stored.starred(stored.alice) == ALL_KILNS


@dataclass
class Following:
    """How Alice follows glaze: in which feeds, until when, and whether that is on."""

    scope: ScopeKind = ScopeKind.ALL
    until: timedelta | None = None
    enabled: bool = True


@pytest.mark.parametrize("following", [Following(), Following(ScopeKind.FEED), Following(until=DAY)])
async def test_a_mute_of_what_is_stored_hides_nothing_that_is_followed(stored: Stored, following: Following) -> None:
    assert await _unread_after_mute(stored, following) == ["glaze", "glaze in kilns"]


@pytest.mark.parametrize(
    "following", [Following(ScopeKind.FOLDER), Following(until=timedelta(seconds=1)), Following(enabled=False)]
)
async def test_a_mute_of_what_is_stored_hides_what_is_no_longer_followed(stored: Stored, following: Following) -> None:
    assert await _unread_after_mute(stored, following) == ["glaze"]


async def _unread_after_mute(stored: Stored, following: Following) -> list[str]:
    """What is unread when Alice follows glaze, and then mutes kilns among what is stored."""
    db, alice, library = stored.db, stored.alice, stored.library
    await library.arrive(stored.feed, "glaze in kilns")
    other = await library.subscribe(alice, await library.feed("other"))
    folder = await library.folder(alice, "Craft", other)
    mine = (subscriptions.c.feed_id == stored.feed, subscriptions.c.user_id == alice.id)
    [row] = await db.query(select(subscriptions.c.id).where(*mine))
    ids = {ScopeKind.FEED: int(row["id"]), ScopeKind.FOLDER: folder}
    period = FilterPeriod(
        NOW + following.until if following.until else None, FilterScope(following.scope, ids.get(following.scope))
    )
    followed, _ = await follow(db, alice.id, FilterSubject("word", "glaze"), NOW, period)
    await enable_filter(db, alice.id, followed.id, NOW, enabled=following.enabled)
    stored.now += timedelta(minutes=1)
    muted, _ = await mute(db, alice.id, FilterSubject("word", "kilns"), stored.now)
    await jobs.apply_backwards(db, alice.id, muted.id, stored.now)
    await stored.work()
    return await stored.unread(alice)


async def test_a_filter_whose_scope_is_gone_matches_nothing(stored: Stored) -> None:
    own = await stored.filter(stored.alice, "kilns", STAR)
    await stored.db.batch([Step(filters.update().values(scope="folder"))])

    job = await jobs.apply_backwards(stored.db, stored.alice.id, own.id, NOW)
    await stored.work()

    assert (await jobs.find_filter_job(stored.db, stored.alice.id, job.id)).status == "done"
    assert await stored.starred(stored.alice) == []
