"""What a reader does with entries: read, star, keep for later, label; one, many, or all."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from feedmill.errors import BadInput, NotFound
from feedmill.library.images import images_to_keep
from feedmill.model.feed import ArchivePolicy
from feedmill.model.reading import Marks, Sweep, Swept
from feedmill.store.database import Database, Step
from feedmill.store.labels import has_labels
from feedmill.store.shown import visible_entries
from feedmill.store.states import steps_to_mark
from feedmill.store.sweeps import sweep
from feedmill.store.undo import undo

LATEST = timedelta(days=3650)
LATER_FOR = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Marked:
    """Which of the entries are as they were wished to be, and which are not there."""

    ids: list[int]
    missing: list[int]


async def mark(
    db: Database, user_id: int, ids: Sequence[int], marks: Marks, now: datetime, later_for: timedelta = LATER_FOR
) -> Marked:
    """Does what `marks` says with those of these entries that the user may see."""
    if isinstance(marks.later, datetime) and not now < marks.later < now + LATEST:
        raise BadInput("say a time between now and ten years from now", "later")
    labels = {*marks.add_labels, *marks.remove_labels}
    if labels and not await has_labels(db, user_id, sorted(labels)):
        raise NotFound("there is no such label")
    visible = await visible_entries(db, user_id, ids)
    if visible and marks != Marks():
        images = await _images(db, visible, now) if marks.starred else []
        await db.batch([*steps_to_mark(user_id, sorted(visible), marks, now, later_for), *images])
    return Marked(sorted(visible), sorted(set(ids) - visible.keys()))


async def mark_one(
    db: Database, user_id: int, entry_id: int, marks: Marks, now: datetime, later_for: timedelta = LATER_FOR
) -> None:
    """The same with one; `NotFound` when there is none for this user."""
    if (await mark(db, user_id, [entry_id], marks, now, later_for)).missing:
        raise NotFound("there is no such entry")


async def mark_all_read(db: Database, user_id: int, wanted: Sweep, now: datetime) -> Swept:
    return await sweep(db, user_id, wanted, now)


async def take_back(db: Database, user_id: int, token: str, now: datetime) -> None:
    """Makes unread again what `mark_all_read` marked; `NotFound` when that can't be done any more."""
    if not await undo(db, user_id, token, now):
        raise NotFound("there is nothing to undo, or it is too late")


async def _images(db: Database, visible: dict[int, str], now: datetime) -> list[Step]:
    """Where a feed wants the images of starred entries only, they are wanted from now on."""
    wanting = sorted(id for id, policy in visible.items() if policy == ArchivePolicy.STARRED)
    return [step for id in wanting for step in await images_to_keep(db, id, now)]
