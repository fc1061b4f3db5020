"""Kept answers of a feed read again by today's parser: what that would change, and having it changed."""

import asyncio
from datetime import timedelta

from feedmill.collect.backups import Period
from feedmill.collect.refresh import Tools
from feedmill.collect.restore import Restored, imagine, restore
from feedmill.collect.restore_plan import plan_from_index
from feedmill.errors import TooMany
from feedmill.library.archives import find_answer
from feedmill.library.subscriptions import find_subscription

# Longer than this nobody waits before a page; the command line takes its time.
PATIENCE = timedelta(seconds=45)
# Keys of answers go by milliseconds.
MOMENT = timedelta(milliseconds=1)


class TakesTooLong(TooMany):
    """There are too many answers to read, or somebody else works on the feed."""

    code = "takes_too_long"


async def try_replay(tools: Tools, user_id: int, subscription_id: int, body_id: int | None) -> Restored:
    """What `replay` would do."""
    return await _replay(tools, user_id, subscription_id, body_id, for_real=False)


async def replay(tools: Tools, user_id: int, subscription_id: int, body_id: int | None) -> Restored:
    """Reads one kept answer of the user's feed again, or all of them, and stores what was missed."""
    return await _replay(tools, user_id, subscription_id, body_id, for_real=True)


async def _replay(tools: Tools, user_id: int, subscription_id: int, body_id: int | None, *, for_real: bool) -> Restored:
    feed_id = (await find_subscription(tools.db, user_id, subscription_id)).feed_id
    period = Period()
    if body_id is not None:
        at = (await find_answer(tools.db, user_id, subscription_id, body_id)).at
        period = Period(at, at + MOMENT)
    plans = plan_from_index(tools.db, [feed_id], period)
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            return await (restore if for_real else imagine)(tools, plans, lambda one: None)
    except TimeoutError as error:
        raise TakesTooLong("this takes too long for a page; `feedmill restore` takes its time", 60) from error
