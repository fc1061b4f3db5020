"""Looks for new hits of saved searches that users are notified of."""

from datetime import timedelta

from feedmill.library.outbound_tools import OutboundTools
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.run_search import SearchRequest, run_search
from feedmill.model.notifications.notification_target import WatchedSearch
from feedmill.store.entries.fill_deferred_entries import fill_deferred
from feedmill.store.notifications.watched_searches import claim_check, due_searches, record_hits

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
    await fill_deferred(tools.db, search.user_id)
    request = SearchRequest(search.query, order="date", most=MOST_HITS)
    try:
        found = await run_search(tools.db, search.user_id, request, tools.clock())
    except BadSearch:
        return  # It names a folder or a label that was deleted.
    new = [entry.id for entry in found.items if entry.id > search.after_entry_id]
    if new:
        await record_hits(tools.db, search, new, tools.clock())
