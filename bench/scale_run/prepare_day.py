"""What is done and noted before a day begins."""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
from feed_profiles import DAY
from monitor import sizes_of_tables
from report import Table

from feedmill.library.stories.join_stored_entries import INDEXED_FROM
from feedmill.model.timestamps import to_iso
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.feeds.fetch_log_days import add_log_days
from feedmill.store.instance_state import set_instance_value

# A feed that is due in the last simulated seconds of a day may be postponed to the next one.
NOT_YET = 600
NEWEST = "SELECT coalesce(max(id), 0) FROM entries"
DUE = "SELECT id FROM feeds WHERE next_fetch_at <= $1"
ROWS_AT_ONCE = 20_000


@dataclass(frozen=True)
class BeforeDay:
    """The id of the newest entry, and by the id of a feed whether it is to be fetched during the day."""

    newest_entry: int
    is_due: bytearray


async def prepare_day(url: str, feeds: int, start: float, end: float) -> BeforeDay:
    """Does what maintenance would have done on the days before, as far as the day depends on it."""
    db = PostgresDatabase(url)
    try:
        # The first of the days that are added is the one after `now`.
        await add_log_days(db, datetime.fromtimestamp(start - DAY, UTC))
        # What is loaded has no signatures. Nobody upgrades an installation during the day.
        await set_instance_value(db, INDEXED_FROM, "1")
    finally:
        await db.close()
    one = await asyncpg.connect(url)
    try:
        is_due = bytearray(feeds + 1)
        until = to_iso(datetime.fromtimestamp(end, UTC) - timedelta(seconds=NOT_YET))
        async with one.transaction():
            async for row in one.cursor(DUE, until, prefetch=ROWS_AT_ONCE):
                is_due[row["id"]] = 1
        return BeforeDay(await one.fetchval(NEWEST), is_due)
    finally:
        await one.close()


async def sizes_after_load(folder: Path, url: str, of: str) -> Table:
    """The sizes of the tables when they had been loaded: kept with the data, because every day changes them."""
    file = folder / "sizes.json"
    if not file.exists():
        file.write_text(json.dumps(asdict(await sizes_of_tables(url, of))))
    return Table(**json.loads(file.read_text()))
