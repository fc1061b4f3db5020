"""Pool groups: a name, a rule and the options of both pools."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import bindparam, select

from feedmill.errors import ConstraintViolated, GroupExists, UnknownGroup
from feedmill.i18n.messages import Message
from feedmill.model.pool import LossPolicy, PoolGroup, PoolOptions, PoolRule
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.model.user import Actor
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.database import Database, Row, Step
from feedmill.store.dialect import insert
from feedmill.store.pools.gather_progress import gathered_up_to, step_to_restart_gathering
from feedmill.store.schema import pool_groups, pool_items, pool_texts, users

CHUNK_SIZE = 5000
# Fewer, because they are long.
TEXTS_CHUNK_SIZE = 500
NOBODY = Actor()

ALL = (
    select(pool_groups, users.c.name.label("labels_of_name"))
    .select_from(pool_groups.outerjoin(users, users.c.id == pool_groups.c.labels_user_id))
    .order_by(pool_groups.c.id)
)
BY_NAME = ALL.where(pool_groups.c.name == bindparam("name"))
_labels_of = select(users.c.id).where(users.c.name == bindparam("labels_of_name")).scalar_subquery()
ADD = insert(pool_groups, "name", "rule", "settings", "created_at").values(labels_user_id=_labels_of)
CHANGE = (
    pool_groups.update()
    .where(pool_groups.c.id == bindparam("group"))
    .values({name: bindparam(name) for name in ("name", "rule", "settings", "paused")})
    .values(labels_user_id=_labels_of)
)
SOME_ITEMS = (
    select(pool_items.c.id).where(pool_items.c.group_id == bindparam("group")).limit(CHUNK_SIZE).subquery("some")
)
DROP_ITEMS = pool_items.delete().where(pool_items.c.id.in_(select(SOME_ITEMS.c.id)))
SOME_TEXTS = (
    select(pool_texts.c.id).where(pool_texts.c.group_id == bindparam("group")).limit(TEXTS_CHUNK_SIZE).subquery("some")
)
DROP_TEXTS = pool_texts.delete().where(pool_texts.c.id.in_(select(SOME_TEXTS.c.id)))
CHANGE_RULE = pool_groups.update().where(pool_groups.c.id == bindparam("group")).values(rule=bindparam("rule"))
DROP = pool_groups.delete().where(pool_groups.c.id == bindparam("group"))


@dataclass(frozen=True, slots=True)
class _Settings:
    """The column `settings`: the options of both pools, and what happens to items in doubt."""

    titles: PoolOptions = field(default_factory=PoolOptions)
    contents: PoolOptions = field(default_factory=PoolOptions)
    loss: LossPolicy = field(default_factory=LossPolicy)


async def all_groups(db: Database) -> list[PoolGroup]:
    return [_group(row) for row in await db.query(ALL)]


async def group_of_name(db: Database, name: str) -> PoolGroup:
    """The group of that name; raises `UnknownGroup`."""
    rows = await db.query(BY_NAME, {"name": name})
    if not rows:
        raise UnknownGroup(Message("error.no_such_pool_group", name=name))
    return _group(rows[0])


async def add_group(
    db: Database,
    name: str,
    rule: PoolRule,
    titles: PoolOptions,
    contents: PoolOptions,
    now: datetime,
    by: Actor = NOBODY,
    loss: LossPolicy | None = None,
) -> PoolGroup:
    """Adds a group and restarts the scan of stored entries; raises `GroupExists`."""
    settings = _Settings(titles, contents, loss or LossPolicy())
    row = {"name": name, "created_at": to_iso(now), **_values(rule, settings)}
    try:
        await db.batch(
            [
                Step(ADD, row),
                step_to_restart_gathering(),
                step_to_audit(by, "pool.create", _subject(name, rule, titles, contents), now),
            ]
        )
    except ConstraintViolated as error:
        raise GroupExists(Message("error.pool_group_exists", name=name)) from error
    return await group_of_name(db, name)


async def save_group(db: Database, group: PoolGroup, now: datetime, by: Actor = NOBODY) -> None:
    """Saves a group and restarts the scan of stored entries; raises `GroupExists`."""
    values = _values(group.rule, _Settings(group.titles, group.contents, group.loss))
    row = {"group": group.id, "name": group.name, "paused": int(group.paused), **values}
    done = step_to_audit(by, "pool.change", _subject(group.name, group.rule, group.titles, group.contents), now)
    try:
        await db.batch([Step(CHANGE, row), step_to_restart_gathering(), done])
    except ConstraintViolated as error:
        raise GroupExists(Message("error.pool_group_exists", name=group.name)) from error


async def steps_to_add_feed_to_rules(db: Database, source: int, target: int, first_new: int | None) -> list[Step]:
    """The steps that add `target` to the rules that name the feed `source`, and rescan from the entry `first_new`."""
    named = [group for group in await all_groups(db) if source in group.rule.feeds and target not in group.rule.feeds]
    rules = {group.id: replace(group.rule, feeds=(*group.rule.feeds, target)) for group in named}
    steps = [Step(CHANGE_RULE, {"group": id, "rule": _encode(rule)}) for id, rule in rules.items()]
    if rules and first_new is not None:
        steps.append(step_to_restart_gathering(min(await gathered_up_to(db), first_new - 1)))
    return steps


async def drop_group(db: Database, group: PoolGroup, now: datetime, by: Actor = NOBODY) -> None:
    """Deletes a group; its items and texts first, chunk by chunk."""
    for drop in (DROP_ITEMS, DROP_TEXTS):
        while await db.batch([Step(drop, {"group": group.id})]) != [0]:
            pass
    await db.batch([Step(DROP, {"group": group.id}), step_to_audit(by, "pool.delete", group.name, now)])


def _values(rule: PoolRule, settings: _Settings) -> Mapping[str, Any]:
    # `labels_of` has a column of its own, `labels_user_id`.
    stored = _encode(replace(rule, labels_of=None))
    return {"rule": stored, "settings": _encode(settings), "labels_of_name": rule.labels_of}


def _subject(name: str, rule: PoolRule, titles: PoolOptions, contents: PoolOptions) -> str:
    """The group as the audit log names it, with the user whose labels it uses and the tables that it reads."""
    used = {"labels_of": rule.labels_of, "titles": titles.source_table, "contents": contents.source_table}
    return ", ".join([name, *(f"{what}={whose}" for what, whose in used.items() if whose)])


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _group(row: Row) -> PoolGroup:
    settings = msgspec.json.decode(row["settings"], type=_Settings) if row["settings"] else _Settings()
    return PoolGroup(
        id=row["id"],
        name=row["name"],
        rule=replace(msgspec.json.decode(row["rule"], type=PoolRule), labels_of=row["labels_of_name"]),
        created_at=from_iso(row["created_at"]),
        titles=settings.titles,
        contents=settings.contents,
        paused=bool(row["paused"]),
        loss=settings.loss,
    )
