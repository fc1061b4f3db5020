"""Looks for new hits of saved searches that users are notified of."""

from datetime import timedelta

from feedmill.errors import DatabaseError
from feedmill.lazy_loggers import get_logger
from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.notifications.notification_target import WatchedSearch
from feedmill.store.database import Database
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.entries.list_pages import newest_listed_id
from feedmill.store.notifications.watched_searches import claim_check, due_searches, record_hits
from feedmill.store.search.index_in_lots import index_waiting_texts, oldest_waiting_id

log = get_logger(__name__)

CHECK_EVERY = timedelta(minutes=2)
CHECKED_AT_ONCE = 20
# The newest entries of a search that are looked at.
MOST_HITS = 100


async def check_due_searches(tools: OutboundTools) -> int:
    """Checks some of the searches that are due; how many there were."""
    due = await due_searches(tools.db, tools.clock() - CHECK_EVERY, CHECKED_AT_ONCE)
    for search in due:
        if await claim_check(tools.db, search, tools.clock()):
            await _check(tools, search)
    return len(due)


async def _check(tools: OutboundTools, search: WatchedSearch) -> None:
    newest_id = await _newest_settled_id(tools.db, search.user_id)
    request = SearchRequest(search.query, order="date", most=MOST_HITS)
    try:
        found = await run_search(tools.db, search.user_id, request, tools.clock())
    except BadSearch:
        return  # It names a folder or a label that was deleted.
    new = [entry.id for entry in found.items if search.after_entry_id < entry.id <= newest_id]
    if new:
        await record_hits(tools.db, search, new, tools.clock())


async def _newest_settled_id(db: Database, user_id: int) -> int:
    """The newest entry up to which the search knows all words, and which entries are unread.

    The next check begins after the last hit. Beyond this one, an entry could be found for a word that it seems to lack,
    and another be passed over for good.
    """
    try:
        await index_waiting_texts(db)
    except DatabaseError as error:
        log.warning("texts_not_indexed", reason=str(error))
    await fill_deferred(db, user_id)
    oldest_waiting = await oldest_waiting_id(db)
    newest_listed = await newest_listed_id(db, user_id)
    return newest_listed if oldest_waiting is None else min(newest_listed, oldest_waiting - 1)
