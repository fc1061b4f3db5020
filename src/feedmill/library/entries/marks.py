"""Marks entries as read, starred, for later or labelled: one, many, or all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.archive.request_images import image_task_steps
from feedmill.library.entries.article import find_entry, list_time
from feedmill.library.entries.list_entries import EntryListQuery
from feedmill.library.entries.replaced_marks import replaced_marks
from feedmill.model.entry_lists import ListPosition
from feedmill.model.entry_marks import EntryMarks, ListSide, MarkAllRead, MarkAllReadResult
from feedmill.model.feed import ArchivePolicy
from feedmill.store.database import Database, Step
from feedmill.store.entries.fill_deferred_entries import fill_deferred_or_fail
from feedmill.store.entries.labels import has_labels
from feedmill.store.entries.list_pages import REVERSE_ORDER
from feedmill.store.entries.mark_all_read import mark_unread_as_read
from feedmill.store.entries.marks import steps_to_mark, steps_to_read_copies
from feedmill.store.entries.replaced_marks import step_to_keep
from feedmill.store.entries.undo_mark_all_read import restore_retired_list
from feedmill.store.entries.visible_entries import read_listed_entries, visible_entries
from feedmill.store.stories.read_copies import find_unread_copies

MAX_LATER = timedelta(days=3650)
LATER_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class MarkResult:
    """Which of the entries were marked, and which do not exist for the user."""

    ids: list[int]
    missing: list[int]


async def apply_marks(
    db: Database,
    user_id: int,
    ids: Sequence[int],
    marks: EntryMarks,
    now: datetime,
    later_for: timedelta = LATER_FOR,
    more_steps: Sequence[Step] = (),
) -> MarkResult:
    """Applies `marks` to those of these entries that the user may see, in one batch with `more_steps`."""
    if isinstance(marks.later, datetime) and not now < marks.later < now + MAX_LATER:
        raise BadInput(Message("error.later_out_of_range"), "later")
    labels = {*marks.add_labels, *marks.remove_labels}
    if labels and not await has_labels(db, user_id, sorted(labels)):
        raise NotFound(Message("error.no_such_label"))
    visible = await visible_entries(db, user_id, ids)
    if visible and marks != EntryMarks():
        images = await _images(db, visible, now) if marks.starred else []
        in_order = list(dict.fromkeys(id for id in ids if id in visible))
        copies = await copies_to_read(db, user_id, in_order, marks)
        await db.batch(
            [
                *more_steps,
                *steps_to_mark(user_id, in_order, marks, now, later_for),
                *steps_to_read_copies(user_id, copies, now),
                *images,
            ]
        )
    return MarkResult(sorted(visible), sorted(set(ids) - visible.keys()))


async def apply_marks_to_entry(
    db: Database, user_id: int, entry_id: int, marks: EntryMarks, now: datetime, later_for: timedelta = LATER_FOR
) -> None:
    """Applies `marks` to one entry; `NotFound` if the user may not see it."""
    if (await apply_marks(db, user_id, [entry_id], marks, now, later_for)).missing:
        raise NotFound(Message("error.no_such_entry"))


async def apply_marks_with_undo(
    db: Database, user_id: int, ids: Sequence[int], marks: EntryMarks, now: datetime, later_for: timedelta = LATER_FOR
) -> MarkAllReadResult:
    """Applies `marks`; how many entries they changed, and the token that undoes it."""
    undo = token_hex(16)
    read_too = await copies_to_read(db, user_id, ids, marks)
    replaced = replaced_marks((await read_listed_entries(db, user_id, [*ids, *read_too])).values(), marks)
    keep = step_to_keep(user_id, undo, replaced, now)
    await apply_marks(db, user_id, ids, marks, now, later_for, [keep])
    return MarkAllReadResult(len(replaced.former), undo)


async def mark_side_read(
    db: Database, user_id: int, within: EntryListQuery, entry_id: int, now: datetime, *, above: bool, up_to: int | None
) -> MarkAllReadResult:
    """Marks what stands above or below an entry in a list, all of it. `NotFound` if the entry is not in the list.

    In a list that shows stories once, it marks whole stories.
    """
    entry = await find_entry(db, user_id, entry_id)
    at = list_time(entry, within)
    if at is None:
        raise NotFound(Message("error.no_such_entry"))
    order = REVERSE_ORDER[within.order] if above else within.order
    side = ListSide(within.view, order, ListPosition(at, entry_id))
    wanted = MarkAllRead(within.scope, None, up_to, within.since, side, within.stories_once)
    return await mark_all_read(db, user_id, wanted, now)


async def mark_all_read(db: Database, user_id: int, wanted: MarkAllRead, now: datetime) -> MarkAllReadResult:
    """Marks what `wanted` selects; raises a `DatabaseError` if the unread list could not be filled before."""
    # A request does not wait for all of a long list; what is added after this would be unread again.
    await fill_deferred_or_fail(db, user_id)
    return await mark_unread_as_read(db, user_id, wanted, now)


async def undo_mark_all_read(db: Database, user_id: int, token: str, now: datetime) -> None:
    """Undoes what gave this token; `NotFound` if it is unknown or has expired."""
    if not await restore_retired_list(db, user_id, token, now):
        raise NotFound(Message("error.nothing_to_undo"))


async def copies_to_read(db: Database, user_id: int, ids: Sequence[int], marks: EntryMarks) -> list[int]:
    """The unread entries of other feeds that these marks read, because they are the same stories."""
    if not marks.read or not marks.whole_stories:
        return []
    return sorted(set(await find_unread_copies(db, user_id, ids)) - set(ids))


async def _images(db: Database, visible: dict[int, str], now: datetime) -> list[Step]:
    """Queues the images of newly starred entries whose feeds archive only those."""
    wanting = sorted(id for id, policy in visible.items() if policy == ArchivePolicy.STARRED)
    return await image_task_steps(db, wanting, now)
