"""Benchmarks the first page of unread lists that show raised entries first, against the same lists without.

    python bench/raised_entries.py [--entries 1000000] [--feeds 1000] [--databases sqlite,postgresql] [--keep FOLDER]

The reader has half of all entries unread, and a filter raised a tenth of all entries. In the second round those that
are looked at were read: they are looked at in vain, which is the worst case.
"""

import argparse
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from typing import Any

import uvloop
from library_load import DATABASES, NOW, database_folder, load_once, reader
from report import Cell, Table, report_table
from sqlalchemy import select

from feedmill.library.cursors import from_list_cursor
from feedmill.library.entries.list_entries import MOST_RAISED, EntryListQuery, list_entries
from feedmill.library.entries.marks import apply_marks
from feedmill.model.entry_lists import ALL_ENTRIES, EntryScope
from feedmill.model.entry_marks import EntryMarks
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.store.chunks import chunked
from feedmill.store.database import Database, Step
from feedmill.store.dialect import insert
from feedmill.store.filters.raised_entries import MOST_LOOKED_AT
from feedmill.store.schema import entries, filter_effects, filters

ROUNDS = 60
FOLDER = 100
EVERY = 10
CHUNK = 5000


async def raise_once(db: Database, user: User, folder: Path) -> list[int]:
    """Raises every tenth entry, unless an earlier run did; the ids, the newest first."""
    rows = await db.query(select(entries.c.id).order_by(entries.c.id.desc()))
    ids = [row["id"] for row in rows[::EVERY]]
    done = folder / "raised"
    if not done.exists():
        row = {"user_id": user.id, "name": "Raised", "query": "x", "actions": "{}", "created_at": to_iso(NOW)}
        await db.batch([Step(insert(filters, *row), row)])
        [made] = await db.query(select(filters.c.id))
        effect = {"user_id": user.id, "action": "raise", "filter_id": made["id"], "at": to_iso(NOW), "entry_id": 0}
        for chunk in chunked(ids, CHUNK):
            await db.batch([Step(insert(filter_effects, *effect), [effect | {"entry_id": id} for id in chunk])])
        await db.exec("ANALYZE")
        done.touch()
    return ids


async def measure(db: Database, user: User, subscribed: tuple[int, ...]) -> list[list[Cell]]:
    scopes = {
        "all feeds": ALL_ENTRIES,
        "one feed": EntryScope(subscribed[:1]),
        f"a folder of {FOLDER} feeds": EntryScope(subscribed[:FOLDER]),
    }
    rows = []
    for name, scope in scopes.items():
        plain = EntryListQuery(scope=scope, most=50)
        first = replace(plain, raised_first=MOST_RAISED)
        rows.append([name, *await _compare(db, user, first, plain)])
        page = await list_entries(db, user.id, first, NOW)
        if page.next is None:
            continue
        last = from_list_cursor(page.next)
        following = replace(first, beyond=last.position, raised=last.raised)
        rows.append([f"{name}, next page", *await _compare(db, user, following, replace(following, raised=None))])
    return rows


async def _compare(db: Database, user: User, first: EntryListQuery, plain: EntryListQuery) -> list[Cell]:
    raised = await _milliseconds(lambda: list_entries(db, user.id, first, NOW))
    usual = await _milliseconds(lambda: list_entries(db, user.id, plain, NOW))
    return [raised, usual, raised / usual]


async def _milliseconds(work: Callable[[], Awaitable[Any]]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await work()
        times.append((time.perf_counter() - started) * 1000)
    return quantiles(times, n=4)[0]


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        kept_as = f"{name}-{arguments.entries}-{arguments.feeds}-raised"
        with database_folder(kept_as, arguments.keep) as folder, DATABASES[name](folder) as db:
            await load_once(db, folder, arguments.entries, arguments.feeds)
            user, subscribed = await reader(db)
            ids = await raise_once(db, user, folder)
            title = f"{name}: {arguments.entries:,} entries, {len(ids):,} of them raised"
            columns = ["unread list", "raised first, ms", "in place, ms", "ratio"]
            report_table(Table(title, columns, await measure(db, user, subscribed)))
            await apply_marks(db, user.id, ids[:MOST_LOOKED_AT], EntryMarks(read=True), NOW)
            worst = await measure(db, user, subscribed)
            report_table(Table(f"{title}; the last {MOST_LOOKED_AT:,} read", columns, worst))
            await db.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--feeds", type=int, default=1_000)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--keep", type=Path)
    uvloop.run(main(parser.parse_args()))
