"""Views with the names and columns that programs of other designs use: `items`, `titles` and `contents`.

They exist only if the operator creates them: other programs in the same database may have tables of these names.
They are read-only but for one change, `UPDATE titles SET status = 0 WHERE id = …`, which marks an item as used.
"""

from collections.abc import Collection
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Select, func, select, text

from feedmill.errors import NameTaken
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolKind
from feedmill.store.database import Database
from feedmill.store.entries.newest_texts import newest_text, with_newest_revision
from feedmill.store.instance_state import read_instance_value, set_instance_value
from feedmill.store.migrations import sqlalchemy_dialect
from feedmill.store.pools.items import WITH_TEXTS
from feedmill.store.schema import entries, pool_items, pool_texts

# The instance value with the names of the views that were created.
CREATED = "views:created"
RELATIONS = {
    "sqlite": text("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"),
    "postgresql": text("SELECT relname AS name FROM pg_class WHERE pg_table_is_visible(oid)"),
    "mysql": text("SELECT table_name AS name FROM information_schema.tables WHERE table_schema = database()"),
}


def _pool_view(kind: PoolKind, name: str, *texts: ColumnElement[Any]) -> Select[Any]:
    columns = pool_items.c
    content = func.coalesce(pool_texts.c.text, *texts).label(name)
    return (
        select(columns.id, columns.group_id, content, columns.batch_id, columns.status)
        .select_from(with_newest_revision(WITH_TEXTS.outerjoin(entries, entries.c.id == columns.entry_id)))
        .where(columns.kind == kind)
    )


POOL_VIEWS = {
    "titles": _pool_view(PoolKind.TITLES, "title", newest_text("title")),
    "contents": _pool_view(PoolKind.CONTENTS, "content", newest_text("content_html"), newest_text("summary")),
}
VIEWS = {
    "items": select(
        *(entries.c[name] for name in ("id", "feed_id", "guid", "link", "title")),
        entries.c.published_at.label("pub_date"),
        func.coalesce(entries.c.content_html, entries.c.summary).label("content_html"),
        entries.c.first_seen_at.label("created_at"),
    ),
    **POOL_VIEWS,
}

# How an update of a view marks an item as used. MySQL needs none of it: there the view itself can be updated.
MARK_USED = {
    "sqlite": """
        CREATE TRIGGER {view}_used INSTEAD OF UPDATE OF status ON {view} BEGIN
        SELECT RAISE(ABORT, 'only status = 0 can be set') WHERE NEW.status IS NOT 0;
        UPDATE pool_items SET status = 0, taken_by = 'status update', leased_until = NULL,
        changed_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE id = OLD.id AND status <> 0; END""",
    # A rule, because it has the rights of the view's owner; a trigger would need a function that has them. An item that
    # was available to the statement must still be so: then `… WHERE id = … AND status = 1` changes it for one program.
    "postgresql": """
        CREATE OR REPLACE RULE {view}_used AS ON UPDATE TO {view} DO INSTEAD
        UPDATE pool_items SET status = 0, taken_by = 'status update', leased_until = NULL,
        changed_at = to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
        WHERE pool_items.id = OLD.id AND NEW.status = 0 AND pool_items.status <> 0
        AND (OLD.status <> 1 OR pool_items.status = 1)""",
}


async def create_views(db: Database, names: Collection[str] = tuple(VIEWS)) -> None:
    """Creates these views, or replaces them; raises `NameTaken` if others use the names. Can be repeated."""
    created = await created_views(db)
    taken = (await _relations(db)) & (set(names) - created)
    if taken:
        raise NameTaken(Message("error.view_names_taken", names=", ".join(sorted(taken))))
    await _save_created(db, created | set(names))
    for name in names:
        for statement in view_statements(name, db.dialect_name):
            await db.exec(statement)


async def drop_views(db: Database) -> list[str]:
    """Drops the views that were created; returns their names."""
    created = await created_views(db)
    for name in created:
        await db.exec(f"DROP VIEW IF EXISTS {name}")
    await _save_created(db, set())
    return sorted(created)


async def created_views(db: Database) -> set[str]:
    """The names of the views that were created."""
    value = await read_instance_value(db, CREATED)
    return set(msgspec.json.decode(value, type=list[str])) & set(VIEWS) if value else set()


def view_statements(name: str, dialect_name: str) -> list[str]:
    """The statements that create or replace a view, each on one line, as D1 needs it."""
    dialect = sqlalchemy_dialect(dialect_name)
    query = VIEWS[name].compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    if dialect_name == "sqlite":
        statements = [f"DROP VIEW IF EXISTS {name}", f"CREATE VIEW {name} AS {query}"]
    else:
        statements = [f"CREATE OR REPLACE VIEW {name} AS {query}"]
    if name in POOL_VIEWS and dialect_name in MARK_USED:
        statements.append(MARK_USED[dialect_name].format(view=name))
    return [" ".join(statement.split()) for statement in statements]


async def _relations(db: Database) -> set[str]:
    return {str(row["name"]).lower() for row in await db.query(RELATIONS[db.dialect_name])}


async def _save_created(db: Database, names: set[str]) -> None:
    await set_instance_value(db, CREATED, msgspec.json.encode(sorted(names)).decode())
