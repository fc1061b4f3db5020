"""Parses the raw bodies of a user's feed again and stores what was missed."""

import asyncio
from datetime import timedelta

from feedmill.collect.refresh import RefreshTools
from feedmill.collect.restore import RestoreReport, preview_restore, restore_feeds
from feedmill.collect.restore_bodies import Period
from feedmill.collect.restore_plan import plan_from_index
from feedmill.errors import LimitExceeded
from feedmill.i18n.messages import Message
from feedmill.library.archive.raw_bodies import find_raw_body
from feedmill.library.subscriptions.lookup import find_subscription

# The time limit of a page; the command line has none.
PATIENCE = timedelta(seconds=45)
# The keys of raw bodies have this precision.
MOMENT = timedelta(milliseconds=1)


class TakesTooLong(LimitExceeded):
    """There are too many raw bodies to parse, or another process works on the feed."""

    code = "takes_too_long"


async def preview_replay(tools: RefreshTools, user_id: int, subscription_id: int, body_id: int | None) -> RestoreReport:
    """What `replay` would do."""
    return await _replay(tools, user_id, subscription_id, body_id, for_real=False)


async def replay(tools: RefreshTools, user_id: int, subscription_id: int, body_id: int | None) -> RestoreReport:
    """Parses one raw body of the user's feed again, or all of them, and stores what was missed."""
    return await _replay(tools, user_id, subscription_id, body_id, for_real=True)


async def _replay(
    tools: RefreshTools, user_id: int, subscription_id: int, body_id: int | None, *, for_real: bool
) -> RestoreReport:
    feed_id = (await find_subscription(tools.db, user_id, subscription_id)).feed_id
    period = Period()
    if body_id is not None:
        at = (await find_raw_body(tools.db, user_id, subscription_id, body_id)).at
        period = Period(at, at + MOMENT)
    plans = plan_from_index(tools.db, [feed_id], period)
    try:
        async with asyncio.timeout(PATIENCE.total_seconds()):
            return await (restore_feeds if for_real else preview_restore)(tools, plans, lambda one: None)
    except TimeoutError as error:
        raise TakesTooLong(Message("error.replay_too_long"), 60) from error
