"""Keeps what a change of many marks replaced under a token, and restores it.

It is kept in the row of an unread list that is empty and retired at once. So the token, its time limit and its cleanup
are those of mark-all-read, and one undo serves both.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

import msgspec
from msgspec import Struct
from sqlalchemy import and_, bindparam

from feedmill.model.entry_marks import EntryMarks
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.entries.marks import steps_to_mark
from feedmill.store.schema import states, unread_lists

MarkKind = Literal["read", "starred", "later"]


class FormerMarks(Struct, frozen=True, gc=False, array_like=True):
    """The marks of an entry before a change."""

    entry_id: int
    unread: bool
    read_at: str | None
    starred_at: str | None
    later_at: str | None
    later_until: str | None


class ReplacedMarks(Struct, frozen=True):
    """What a change of these kinds replaced, and the labels that it put on entries that did not have them."""

    kinds: tuple[MarkKind, ...]
    former: tuple[FormerMarks, ...]
    labelled: tuple[tuple[int, tuple[int, ...]], ...] = ()


KEEP = insert(unread_lists, "user_id", "token", "created_at", "retired_at", "replaced_marks")
_own_state = and_(states.c.user_id == bindparam("of_user"), states.c.entry_id == bindparam("of_entry"))
_COLUMNS: dict[MarkKind, tuple[str, ...]] = {
    "read": ("read_at",),
    "starred": ("starred_at",),
    "later": ("later_at", "later_until"),
}
WITHOUT: dict[MarkKind, EntryMarks] = {
    "read": EntryMarks(read=False),
    "starred": EntryMarks(starred=False),
    "later": EntryMarks(later=False),
}
RESTORE = {
    kind: states.update()
    .where(_own_state)
    .values({name: bindparam(f"former_{name}") for name in names} | {"changed_at": bindparam("now")})
    for kind, names in _COLUMNS.items()
}


def step_to_keep(user_id: int, token: str, replaced: ReplacedMarks, now: datetime) -> Step:
    at = to_iso(now)
    kept = msgspec.json.encode(replaced).decode()
    return Step(KEEP, {"user_id": user_id, "token": token, "created_at": at, "retired_at": at, "replaced_marks": kept})


def steps_to_restore(user_id: int, kept: str, now: datetime) -> list[Step]:
    """The steps that undo the change; what else was marked since then stays."""
    replaced = msgspec.json.decode(kept, type=ReplacedMarks)
    steps = [step for kind in replaced.kinds for step in _steps_of_kind(user_id, kind, replaced.former, now)]
    for label_id, ids in replaced.labelled:
        steps += steps_to_mark(user_id, ids, EntryMarks(remove_labels=(label_id,)), now, timedelta(0))
    return steps


def _steps_of_kind(user_id: int, kind: MarkKind, former: Sequence[FormerMarks], now: datetime) -> list[Step]:
    """Takes the mark from those that did not have it; the others get the times back that they had."""
    without = [each.entry_id for each in former if not _had(each, kind)]
    others = [each for each in former if _had(each, kind)]
    steps = steps_to_mark(user_id, without, WITHOUT[kind], now, timedelta(0)) if without else []
    if others and kind == "read":
        steps += steps_to_mark(user_id, [each.entry_id for each in others], EntryMarks(read=True), now, timedelta(0))
    return [*steps, Step(RESTORE[kind], [_params(user_id, each, kind, now) for each in others])] if others else steps


def _had(marks: FormerMarks, kind: MarkKind) -> bool:
    return not marks.unread if kind == "read" else getattr(marks, f"{kind}_at") is not None


def _params(user_id: int, marks: FormerMarks, kind: MarkKind, now: datetime) -> dict[str, Any]:
    values = {f"former_{name}": getattr(marks, name) for name in _COLUMNS[kind]}
    return {"of_user": user_id, "of_entry": marks.entry_id, "now": to_iso(now), **values}
