"""Keeps the search index up to date on databases whose texts are indexed in lots."""

import asyncio
from datetime import timedelta

from feedmill.engine.in_process import CANCEL_GRACE
from feedmill.engine.run_periodically import run_periodically
from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.store.database import Database
from feedmill.store.search.index_in_lots import index_waiting_texts

log = get_logger(__name__)

# While feeds arrive, their texts are searchable so much later at most.
INDEX_EVERY = timedelta(seconds=5)


async def keep_indexing_texts(db: Database, every: timedelta = INDEX_EVERY) -> None:
    """Indexes what refreshes have stored, also those of a process that was killed; cancel it to stop."""
    await run_periodically("index_texts", lambda: index_waiting_texts(db), every)


async def index_last_stored_texts(db: Database) -> None:
    """Indexes what is left. If the database does not answer, the next process does."""
    try:
        async with asyncio.timeout(CANCEL_GRACE.total_seconds()):
            await index_waiting_texts(db)
    except (DatabaseError, TimeoutError) as error:
        log.warning("texts_not_indexed", reason=str(error))
