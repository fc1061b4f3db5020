"""Where SQLite begins a search. It keeps no statistics, so the few entries of a narrow condition are counted first.

Words lead, and so does the date where there are none: fine while many entries fit the other conditions. But three
starred entries among a million would be met after a million steps; such a condition leads by itself.
"""

from typing import Any

from sqlalchemy import BigInteger, Select, bindparam, func, literal_column, select

from feedmill.store.database import Database
from feedmill.store.dialect import one_of
from feedmill.store.schema import entries, entry_labels, states, unread, users
from feedmill.store.search_conditions import Sql
from feedmill.store.search_shapes import Question, Shape

# So many are looked at one by one in some 20 ms.
FEW = 5_000

_user = bindparam("user_id", type_=BigInteger())
_states = select(states.c.entry_id).where(states.c.user_id == _user)
_FIXED: dict[str, Select[Any]] = {
    "starred": _states.where(states.c.starred_at.is_not(None)),
    "later": _states.where(states.c.later_at.is_not(None)),
    "unread": select(unread.c.entry_id).where(
        unread.c.list_id == select(users.c.unread_list_id).where(users.c.id == _user).scalar_subquery()
    ),
}
_OF_LABELS = select(entry_labels.c.entry_id).select_from(entry_labels).where(one_of(entry_labels.c.label_id, "listed"))
_OF_FEEDS = select(entries.c.id).select_from(entries).where(one_of(entries.c.feed_id, "listed"))
_LISTED = {"labels": _OF_LABELS, "feeds": _OF_FEEDS}


def _counting(members: Select[Any]) -> Select[Any]:
    some = members.with_only_columns(literal_column("1").label("one")).limit(literal_column(str(FEW + 1))).subquery()
    return select(func.count().label("members")).select_from(some)


_COUNTS = {kind: _counting(members) for kind, members in (_FIXED | _LISTED).items()}


async def find_lead(db: Database, question: Question, user_id: int) -> Shape | None:
    """The condition to begin with; None when words or the date lead."""
    if db.dialect_name != "sqlite":
        return None
    for shape in question.shape.parts:
        if shape.kind in _COUNTS:
            params = {"user_id": user_id, "listed": question.params.get(shape.name)}
            [row] = await db.query(_COUNTS[shape.kind], params)
            if row["members"] <= FEW:
                return shape
    return None


def led_by(shape: Shape) -> Sql:
    """Whether an entry is among those of a condition, in the form that SQLite begins with."""
    match shape.kind:
        case "feeds":
            return one_of(entries.c.feed_id, shape.name)
        case "labels":
            return entries.c.id.in_(select(entry_labels.c.entry_id).where(one_of(entry_labels.c.label_id, shape.name)))
        case kind:
            return entries.c.id.in_(_FIXED[kind])
