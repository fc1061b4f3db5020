"""The partitions of the fetch log on PostgreSQL: one for each day (UTC), dropped whole when it has expired.

Deleting millions of lines would write as much as fetching did. The other databases have one table. A line for whose day
there is no partition is in the default partition: those of the first day, and those of a clock that is wrong.
"""

import re
from datetime import datetime, time, timedelta
from operator import itemgetter
from typing import NamedTuple

from sqlalchemy import bindparam, column, select, table, text

from feedmill.errors import StatementRefused
from feedmill.lazy_loggers import get_logger
from feedmill.store.database import Database, Step

log = get_logger(__name__)

DAYS_AHEAD = 7
# A dropped day has an exact count up to here, and PostgreSQL's estimate beyond: to count a large one takes minutes.
MOST_COUNTED = 100_000
PARTITIONS = text(
    "SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds, CAST(c.reltuples AS bigint) AS estimate"
    " FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = CAST('fetch_log' AS regclass)"
)
BOUNDS = re.compile(r"FROM \((?:MINVALUE|'([^']+)')\) TO \('([^']+)'\)")
_default = table("fetch_log_default", column("at"))
IN_DEFAULT = (
    select(_default.c.at).where(_default.c.at >= bindparam("first"), _default.c.at < bindparam("following")).limit(1)
)
# Fetches wait for a change of partitions, and that waits for statements that read the log.
WAIT_BRIEFLY = Step(text("SET LOCAL lock_timeout = '2s'"))
# A new partition locks the log and then, for its foreign key, the feeds. A refresh writes the feed before the log, so
# the feeds are locked first: else the two wait for each other. A partition that is dropped locks the log alone.
LOCK_FEEDS = Step(text("LOCK TABLE feeds IN SHARE ROW EXCLUSIVE MODE"))


class Partition(NamedTuple):
    name: str
    # An empty text for that of the lines from before there were any.
    day: str
    # The first day that is no longer in it.
    following_day: str
    estimated_lines: int


def start_of_day(at: datetime) -> datetime:
    return datetime.combine(at.date(), time(), at.tzinfo)


async def add_log_days(db: Database, now: datetime) -> int:
    """Adds the partitions of the next days; how many were missing. There are none but on PostgreSQL."""
    if db.dialect_name != "postgresql":
        return 0
    partitions, added = await _partitions(db), 0
    # Today's lines are in a partition already.
    for ahead in range(1, DAYS_AHEAD + 1):
        day, following_day = (str((now + timedelta(days=days)).date()) for days in (ahead, ahead + 1))
        # Not only after the last one: a clock that was ahead has added days that are far away.
        if any(each.day <= day < each.following_day for each in partitions):
            continue
        if not await db.query(IN_DEFAULT, {"first": day, "following": following_day}):
            await db.batch([WAIT_BRIEFLY, LOCK_FEEDS, Step(text(_create(day, following_day)))])
            added += 1
    return added


async def drop_log_days(db: Database, before: datetime) -> int:
    """Drops the partitions that have only lines from before `before`; about how many lines they had.

    One that somebody reads for long, as a backup does, is left to the next time; raises its error when the others are
    dropped.
    """
    if db.dialect_name != "postgresql":
        return 0
    lines, refused = 0, None
    for partition in await _partitions(db):
        if partition.following_day > str(before.date()):
            continue
        count = await _count_lines(db, partition)
        try:
            await db.batch([WAIT_BRIEFLY, Step(text(f"DROP TABLE IF EXISTS {partition.name}"))])
        except StatementRefused as error:
            log.warning("log_day_not_dropped", partition=partition.name, reason=str(error))
            refused = error
        else:
            lines += count
    if refused is not None:
        raise refused
    return lines


async def _count_lines(db: Database, partition: Partition) -> int:
    some = f"(SELECT 1 FROM {partition.name} LIMIT {MOST_COUNTED}) AS lines"  # noqa: S608
    [row] = await db.query(text(f"SELECT count(*) AS lines FROM {some}"))  # noqa: S608
    lines = int(row["lines"])
    return lines if lines < MOST_COUNTED else max(lines, partition.estimated_lines)


async def _partitions(db: Database) -> list[Partition]:
    """Those of days, and that of the lines from before there were any; not the default partition."""
    partitions = []
    for row in sorted(await db.query(PARTITIONS), key=itemgetter("name")):
        if found := BOUNDS.search(row["bounds"]):
            partitions.append(Partition(row["name"], found[1] or "", found[2], row["estimate"]))
    return partitions


def _create(day: str, following_day: str) -> str:
    return (
        f"CREATE TABLE IF NOT EXISTS fetch_log_{day.replace('-', '')} PARTITION OF fetch_log"
        f" FOR VALUES FROM ('{day}') TO ('{following_day}')"
    )
