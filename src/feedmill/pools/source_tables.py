"""Takes the rows of a pool's source table, a table or view of the database that another program fills, as texts.

find the table → (last id of the next page → its offered rows that are not known → check → store → record the page)*

Each row is taken once: its id is the sender's id of the text. So a page that was not recorded is read again.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from feedmill.errors import BadInput, DatabaseAccessDenied, StatementRefused
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.pool import PoolFailure, PoolKind, PoolText
from feedmill.pools.claim_tokens import new_token
from feedmill.pools.pool import Pool
from feedmill.pools.pool_tools import PoolTools
from feedmill.pools.program_texts import MAX_TEXT_LENGTH, MAX_WAITING_ITEMS, batch_of, checked_text
from feedmill.store.chunks import chunked
from feedmill.store.pools.source_progress import BEFORE_FIRST, read_source_progress, save_newest_id, save_swept_id
from feedmill.store.pools.source_tables import (
    SourceRow,
    SourceTable,
    find_source_table,
    last_id_of_page,
    offered_ids,
    read_source_rows,
)
from feedmill.store.pools.texts import add_texts, has_more_available, known_external_ids

log = get_logger(__name__)

# Ids per page, and pages per pass: what one pass reads of new rows.
PAGE = 1000
MAX_PAGES = 20
# What one sweep reads again: the last ids, because a transaction may be committed late, and a part of all others,
# because a row may get the status 1, or appear in a view, at any time.
LATE_IDS = 1000
SWEEP_IDS = 5000
# How many rows are read with their texts at once.
ROWS_AT_ONCE = {PoolKind.TITLES: 500, PoolKind.CONTENTS: 20}

TakeRows = Callable[[PoolTools, Pool, SourceTable], Awaitable[int]]


class SourcePage(NamedTuple):
    """What became of a page: its last id, None if there was nothing or the pool is full, and how many rows were new."""

    last: int | None = None
    taken: int = 0


async def read_source_table(tools: PoolTools, pool: Pool, take: TakeRows) -> int:
    """Takes rows if the pool has a source table, and returns how many. A table that can't be read is reported."""
    if not pool.options.source_table:
        return 0
    try:
        found = await find_source_table(tools.db, pool.options.source_table, pool.kind)
        if isinstance(found, SourceTable):
            return await take(tools, pool, found)
        reason = found
    except (StatementRefused, DatabaseAccessDenied) as error:
        reason = error.message
    _report_unreadable(tools, pool, reason)
    return 0


async def take_new_rows(tools: PoolTools, pool: Pool, source: SourceTable) -> int:
    """Takes the rows above the highest known id, at most `PAGE * MAX_PAGES`."""
    newest = (await read_source_progress(tools.db, pool.key, source.name)).newest
    taken = 0
    for _ in range(MAX_PAGES):
        page = await _take_page(tools, pool, source, newest, PAGE)
        if page.last is None:
            break
        taken, newest = taken + page.taken, page.last
        await save_newest_id(tools.db, pool.key, source.name, newest)
    return taken


async def take_late_rows(tools: PoolTools, pool: Pool, source: SourceTable) -> int:
    """Takes rows that were not offered yet when their id was reached: from the last ids, and a part of all others."""
    progress = await read_source_progress(tools.db, pool.key, source.name)
    late = await _take_page(tools, pool, source, max(BEFORE_FIRST, progress.newest - LATE_IDS), LATE_IDS)
    swept = await _take_page(tools, pool, source, progress.swept, SWEEP_IDS)
    # From the beginning again when it has come to the end.
    reached = BEFORE_FIRST if swept.last is None or swept.last >= progress.newest else swept.last
    await save_swept_id(tools.db, pool.key, source.name, reached)
    return late.taken + swept.taken


async def find_source_problem(tools: PoolTools, pool: Pool) -> Message | None:
    """What is wrong with the columns of the source table; None if there is none, or nothing is. Reads no rows."""
    if not pool.options.source_table:
        return None
    found = await find_source_table(tools.db, pool.options.source_table, pool.kind)
    return found if isinstance(found, Message) else None


async def check_source_table(tools: PoolTools, pool: Pool) -> Message | None:
    """Why no texts can be taken from the source table, found by reading it; None if they can."""
    try:
        found = await find_source_table(tools.db, pool.options.source_table, pool.kind)
        if isinstance(found, Message):
            return found
        await last_id_of_page(tools.db, found, BEFORE_FIRST, 1)
        await read_source_rows(tools.db, found, pool.key, [0], 1)
    except (StatementRefused, DatabaseAccessDenied) as error:
        return error.message
    return None


async def _take_page(tools: PoolTools, pool: Pool, source: SourceTable, after: int, most: int) -> SourcePage:
    last = await last_id_of_page(tools.db, source, after, most)
    if last is None:
        return SourcePage()
    ids = await offered_ids(tools.db, source, pool.key, after, last)
    known = await known_external_ids(tools.db, pool.key, [str(id) for id in ids]) if ids else set()
    new = [id for id in ids if str(id) not in known]
    if new and await has_more_available(tools.db, pool.key, MAX_WAITING_ITEMS):
        return SourcePage()
    return SourcePage(last, await _take_rows(tools, pool, source, new))


async def _take_rows(tools: PoolTools, pool: Pool, source: SourceTable, ids: Sequence[int]) -> int:
    """Stores the texts of these rows, a few at a time, because a text may be long; returns how many were new."""
    taken, refused = 0, dict[object, Message]()
    token, now = new_token(f"table {source.name}"), tools.clock()
    for some in chunked(ids, ROWS_AT_ONCE[pool.kind]):
        texts = list[PoolText]()
        for row in await read_source_rows(tools.db, source, pool.key, some, MAX_TEXT_LENGTH[pool.kind]):
            try:
                texts.append(_checked_row(pool.kind, row, batch_of(now)))
            except BadInput as error:
                refused[row.id] = error.message
        taken += await add_texts(tools.db, pool.key, texts, token, now)
    if refused:
        [first, *_] = refused
        reason = str(refused[first])
        log.warning("pool_rows_refused", pool=str(pool), table=source.name, rows=len(refused), id=first, reason=reason)
    return taken


def _checked_row(kind: PoolKind, row: SourceRow, batch_id: int) -> PoolText:
    if row.text is None:
        raise BadInput(Message("error.pool_text_empty"), field="text")
    if not isinstance(row.text, str):
        raise BadInput(Message("error.pool_text_no_text"), field="text")
    if row.batch_id is not None:
        batch_id = row.batch_id if isinstance(row.batch_id, int) else -1
    return checked_text(kind, row.text, str(row.id), batch_id)


def _report_unreadable(tools: PoolTools, pool: Pool, reason: Message) -> None:
    """Records the failure, and logs it unless it was the last one too."""
    before = tools.failures.get(pool.key)
    tools.failures[pool.key] = PoolFailure(tools.clock(), reason)
    if before is None or before.reason != reason:
        table = pool.options.source_table
        log.warning("pool_table_unreadable", pool=str(pool), table=table, reason=str(reason))
