"""Labels of a user and the entries that have them."""

from collections.abc import Sequence

from sqlalchemy import bindparam, func, select

from feedmill.errors import Conflict, ConstraintViolated
from feedmill.i18n.messages import Message
from feedmill.i18n.natural_order import natural_key
from feedmill.model.entry_marks import EntryLabel, UserLabel
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert, insert_selected, one_of
from feedmill.store.schema import entries, entry_labels, filter_effects, labels

_of_user = labels.c.user_id == bindparam("of_user")
_entry_count = select(func.count()).where(entry_labels.c.label_id == labels.c.id).scalar_subquery()
ALL = select(labels.c.id, labels.c.name, _entry_count.label("entries")).where(_of_user)
NAMES = select(labels.c.id, labels.c.name).where(_of_user)
ONE = ALL.where(labels.c.id == bindparam("label_id"))
NAMED = ALL.where(labels.c.name == bindparam("name"))
ADD = insert(labels, "user_id", "name")
_the_label = (_of_user, labels.c.id == bindparam("label_id"))
RENAME = labels.update().where(*_the_label).values(name=bindparam("new_name"))
DROP = labels.delete().where(*_the_label)
# An effect names its label by id alone.
FORGET_EFFECTS = filter_effects.delete().where(
    filter_effects.c.user_id == bindparam("of_user"),
    filter_effects.c.action == FilterAction.LABEL,
    filter_effects.c.target_id == bindparam("label_id"),
)

_some = select(labels.c.id).where(_of_user, one_of(labels.c.id, "label_ids"))
COUNT_SOME = select(func.count().label("n")).select_from(_some.subquery("some"))
# Selected from existing labels: one that was deleted in the meantime is not an error.
LABEL = insert_selected(
    entry_labels,
    select(labels.c.id.label("a"), entries.c.id.label("b"), entries.c.sort_at.label("c"))
    .select_from(labels.join(entries, one_of(entries.c.id, "ids")))
    .where(_of_user, one_of(labels.c.id, "label_ids")),
)
UNLABEL = entry_labels.delete().where(entry_labels.c.label_id.in_(_some), one_of(entry_labels.c.entry_id, "ids"))


async def labels_of(db: Database, user_id: int) -> list[UserLabel]:
    """A user's labels by name."""
    found = [UserLabel(**row) for row in await db.query(ALL, {"of_user": user_id})]
    return sorted(found, key=lambda label: (natural_key(label.name), label.id))


async def label_names(db: Database, user_id: int) -> list[EntryLabel]:
    """A user's labels by name, without counting their entries."""
    found = [EntryLabel(row["id"], row["name"]) for row in await db.query(NAMES, {"of_user": user_id})]
    return sorted(found, key=lambda label: (natural_key(label.name), label.id))


async def read_label(db: Database, user_id: int, label_id: int) -> UserLabel | None:
    rows = await db.query(ONE, {"of_user": user_id, "label_id": label_id})
    return UserLabel(**rows[0]) if rows else None


async def add_label(db: Database, user_id: int, name: str) -> UserLabel:
    """A new label; `Conflict` when the user has one of that name."""
    await _change(db, Step(ADD, {"user_id": user_id, "name": name}), name)
    [added] = await db.query(NAMED, {"of_user": user_id, "name": name})
    return UserLabel(**added)


async def rename_label(db: Database, user_id: int, label_id: int, name: str) -> bool:
    """False when the user has no such label; `Conflict` when another label has that name."""
    return await _change(db, Step(RENAME, {"of_user": user_id, "label_id": label_id, "new_name": name}), name) == 1


async def drop_label(db: Database, user_id: int, label_id: int) -> bool:
    """Deletes the label and removes it from its entries, also what filters did with it.

    False when the user has no such label.
    """
    key = {"of_user": user_id, "label_id": label_id}
    dropped, _ = await db.batch([Step(DROP, key), Step(FORGET_EFFECTS, key)])
    return dropped == 1


async def has_labels(db: Database, user_id: int, label_ids: Sequence[int]) -> bool:
    """Whether all of these labels belong to the user."""
    [row] = await db.query(COUNT_SOME, {"of_user": user_id, "label_ids": as_list(list(label_ids))})
    return int(row["n"]) == len(set(label_ids))


def steps_to_label(user_id: int, ids: Sequence[int], label_ids: Sequence[int]) -> list[Step]:
    return [Step(LABEL, _params(user_id, ids, label_ids))] if label_ids else []


def steps_to_unlabel(user_id: int, ids: Sequence[int], label_ids: Sequence[int]) -> list[Step]:
    return [Step(UNLABEL, _params(user_id, ids, label_ids))] if label_ids else []


def _params(user_id: int, ids: Sequence[int], label_ids: Sequence[int]) -> dict[str, object]:
    return {"of_user": user_id, "ids": as_list(list(ids)), "label_ids": as_list(list(label_ids))}


async def _change(db: Database, step: Step, name: str) -> int:
    try:
        [changed] = await db.batch([step])
    except ConstraintViolated as error:
        raise Conflict(Message("error.label_exists", name=name)) from error
    return changed
