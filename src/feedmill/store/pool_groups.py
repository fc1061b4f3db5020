"""Pool groups as rows: a name, a rule and the options of both pools."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from feedmill.errors import Conflict, ConstraintViolated, NotFound
from feedmill.model.pool import Group, PoolOptions, Rule
from feedmill.model.times import from_text, to_text
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert, insert_new
from feedmill.store.schema import facts, pool_groups, pool_items

LOT = 5000
GATHERED = "pools:gathered"

ALL = select(pool_groups).order_by(pool_groups.c.id)
BY_NAME = select(pool_groups).where(pool_groups.c.name == bindparam("name"))
ADD = insert(pool_groups, "name", "rule", "settings", "created_at")
CHANGE = (
    pool_groups.update()
    .where(pool_groups.c.id == bindparam("group"))
    .values({name: bindparam(name) for name in ("name", "rule", "settings", "paused")})
)
SOME_ITEMS = select(pool_items.c.id).where(pool_items.c.group_id == bindparam("group")).limit(LOT).subquery("some")
DROP_ITEMS = pool_items.delete().where(pool_items.c.id.in_(select(SOME_ITEMS.c.id)))
DROP = pool_groups.delete().where(pool_groups.c.id == bindparam("group"))
READ_GATHERED = select(facts.c.value).where(facts.c.name == GATHERED)
BEGIN_GATHERED = insert_new(facts, "name", "value")
ADVANCE_GATHERED = (
    facts.update()
    .where(facts.c.name == GATHERED, facts.c.value == bindparam("before"))
    .values(value=bindparam("after"))
)
GATHER_ANEW = facts.update().where(facts.c.name == GATHERED).values(value="0")


class GroupExists(Conflict):
    """There is a pool group of that name already."""

    code = "group_exists"


class UnknownGroup(NotFound):
    """There is no such pool group."""

    code = "unknown_group"


@dataclass(frozen=True, slots=True)
class _Settings:
    """What the column `settings` has: the options of both pools."""

    titles: PoolOptions = field(default_factory=PoolOptions)
    contents: PoolOptions = field(default_factory=PoolOptions)


async def all_groups(db: Database) -> list[Group]:
    return [_group(row) for row in await db.query(ALL)]


async def group_of_name(db: Database, name: str) -> Group:
    """The group of that name; raises `UnknownGroup`."""
    rows = await db.query(BY_NAME, {"name": name})
    if not rows:
        raise UnknownGroup(f"there is no pool group {name!r}")
    return _group(rows[0])


async def add_group(
    db: Database, name: str, rule: Rule, titles: PoolOptions, contents: PoolOptions, now: datetime
) -> Group:
    """Makes a group and has all entries looked at for it; raises `GroupExists`."""
    row = {"name": name, "created_at": to_text(now), **_values(rule, titles, contents)}
    try:
        await db.batch([Step(ADD, row), Step(GATHER_ANEW)])
    except ConstraintViolated as error:
        raise GroupExists(f"there is a pool group {name!r} already") from error
    return await group_of_name(db, name)


async def save_group(db: Database, group: Group) -> None:
    """Changes a group to what it is now, and has all entries looked at again."""
    values = _values(group.rule, group.titles, group.contents)
    row = {"group": group.id, "name": group.name, "paused": int(group.paused), **values}
    try:
        await db.batch([Step(CHANGE, row), Step(GATHER_ANEW)])
    except ConstraintViolated as error:
        raise GroupExists(f"there is a pool group {group.name!r} already") from error


async def drop_group(db: Database, group_id: int) -> None:
    """Takes a group away, its items lot by lot first."""
    while await db.batch([Step(DROP_ITEMS, {"group": group_id})]) != [0]:
        pass
    await db.batch([Step(DROP, {"group": group_id})])


async def gathered_up_to(db: Database) -> int:
    """The entry up to which all were looked at for the groups there are."""
    rows = await db.query(READ_GATHERED)
    if not rows:
        await db.batch([Step(BEGIN_GATHERED, {"name": GATHERED, "value": "0"})])
    return int(rows[0]["value"]) if rows else 0


async def advance_gathered(db: Database, before: int, after: int) -> bool:
    """Moves on from `before`; False when somebody has all looked at anew meanwhile."""
    return await db.batch([Step(ADVANCE_GATHERED, {"before": str(before), "after": str(after)})]) == [1]


def _values(rule: Rule, titles: PoolOptions, contents: PoolOptions) -> Mapping[str, Any]:
    return {"rule": _encode(rule), "settings": _encode(_Settings(titles, contents))}


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _group(row: Row) -> Group:
    settings = msgspec.json.decode(row["settings"], type=_Settings) if row["settings"] else _Settings()
    return Group(
        id=row["id"],
        name=row["name"],
        rule=msgspec.json.decode(row["rule"], type=Rule),
        created_at=from_text(row["created_at"]),
        titles=settings.titles,
        contents=settings.contents,
        paused=bool(row["paused"]),
    )
