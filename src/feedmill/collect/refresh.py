"""The spine: how a feed becomes entries. Read this file first.

claim → fetch → keep raw → decode → parse → decide → store in one batch → announce
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import structlog

from feedmill.archive.blobs import Blobs
from feedmill.archive.raw import keep_raw
from feedmill.collect import decide, keepable
from feedmill.collect.cadence import Rules
from feedmill.collect.decide import Moment
from feedmill.collect.fetch import Rest, Web, fetch_feed
from feedmill.collect.outage import OutageGuard
from feedmill.collect.parse import parse
from feedmill.collect.reconcile import asked_for, offered, reconcile
from feedmill.collect.saying import say_unreadable_dates, say_what_matters
from feedmill.errors import ConstraintViolated, NotAFeed, StatementRefused
from feedmill.model.feed import ArchivePolicy, Claim, Feed
from feedmill.model.outcome import NotModified, Response
from feedmill.model.parsed import ParsedFeed
from feedmill.model.refresh import Decision, Known, RawBody, Unchanged, Updated
from feedmill.store.database import Database, Step
from feedmill.store.feeds import feed_of_url
from feedmill.store.merges import merge_feeds
from feedmill.store.refreshes import find_known, record

log = structlog.get_logger(__name__)

# Parsing more than this would hold up the others on the event loop for too long.
THREAD_BYTES = 100_000
NOTHING_KNOWN: tuple[dict[str, Known], set[str]] = ({}, set())


Also = Callable[[Decision], Sequence[Step]]


def nothing_else(decision: Decision) -> Sequence[Step]:
    return ()


Besides = Callable[[Claim, Decision], Awaitable[Sequence[Step]]]


async def nothing_besides(claim: Claim, decision: Decision) -> Sequence[Step]:
    return ()


@dataclass(frozen=True, slots=True)
class Tools:
    """What a refresh works with."""

    db: Database
    blobs: Blobs
    client: Web
    rules: Rules = field(default_factory=Rules)
    soft_limit: timedelta = timedelta(seconds=90)
    rest: Rest = asyncio.sleep
    announce: Callable[[Feed, Decision], None] = lambda feed, decision: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: Callable[[], float] = random.random
    outage: OutageGuard = field(default_factory=OutageGuard)
    # What is written besides: new entries join the pools that want them, webhooks are told.
    besides: Besides = nothing_besides


async def refresh_feed(tools: Tools, claim: Claim, also: Also = nothing_else) -> Decision:
    """Refreshes a claimed feed; what `also` makes of the decision is written in the same batch."""
    started = time.monotonic()
    decision = await _aim_move(tools, claim.feed, await _decide(tools, claim.feed, started))
    recorded = await _record(tools, claim, decision, also)
    await _merge_if_moved(tools, claim.feed, recorded)
    say_what_matters(claim.feed, recorded)
    tools.announce(claim.feed, recorded)
    return recorded


async def _record(tools: Tools, claim: Claim, decision: Decision, also: Also) -> Decision:
    """Writes the decision; what the database can't take is this feed's failure and nobody else's."""
    try:
        await record(tools.db, claim, decision, [*await tools.besides(claim, decision), *also(decision)])
    except (ConstraintViolated, StatementRefused) as error:
        log.error("what a feed offers can't be stored", feed_id=claim.feed.id, url=claim.feed.url, exc_info=error)
        decision = decide.not_stored(claim.feed, decision, str(error), _moment(tools, time.monotonic()))
        await record(tools.db, claim, decision, [*await tools.besides(claim, decision), *also(decision)])
    return decision


async def _decide(tools: Tools, feed: Feed, started: float) -> Decision:
    try:
        # The fetch alone: when our own storage is slow, no feed is to blame.
        async with asyncio.timeout(tools.soft_limit.total_seconds()):
            outcome = await fetch_feed(tools.client, feed, tools.rest, tools.dice)
    except TimeoutError:
        return decide.took_too_long(feed, _bad_moment(tools, started))
    tools.outage.saw(feed.url, outcome, tools.clock())
    moment = _moment(tools, started)
    match outcome:
        case Response():
            return await _understand(tools, feed, outcome, moment)
        case NotModified():
            return decide.unchanged(feed, outcome, moment)
        case _:
            return decide.not_fetched(feed, outcome, _bad_moment(tools, started))


async def _understand(tools: Tools, feed: Feed, response: Response, moment: Moment) -> Decision:
    digest = sha256(response.body).hexdigest()
    seen_before = digest == feed.body_sha256
    if seen_before and feed.last_error_kind is None:
        return decide.unchanged(feed, response, moment)
    raw = None if seen_before else await keep_raw(tools.blobs, feed.id, response, digest)
    try:
        parsed = await _parse(response)
    except NotAFeed as error:
        return decide.not_understood(feed, response, str(error), raw, digest, moment)
    return await _compare(tools, feed, response, parsed, raw, digest, moment)


async def _compare(
    tools: Tools, feed: Feed, response: Response, parsed: ParsedFeed, raw: RawBody | None, digest: str, moment: Moment
) -> Decision:
    entries = offered(parsed)
    is_new = feed.last_success_at is None and not feed.entry_count
    known, purged = NOTHING_KNOWN if is_new else await find_known(tools.db, feed.id, asked_for(entries))
    with_images = feed.archive_policy is ArchivePolicy.ALL
    site_url = keepable.address(parsed.link) or response.final_url
    changes = reconcile(entries, known, purged, moment.now, site_url=site_url, with_images=with_images)
    say_unreadable_dates(feed, entries, changes)
    return decide.updated(feed, response, parsed, changes, raw, digest, moment)


async def _aim_move(tools: Tools, feed: Feed, decision: Decision) -> Decision:
    """A settled move to a URL that another feed has becomes a merge."""
    if not isinstance(decision, Updated | Unchanged) or not decision.move.settled or decision.move.to is None:
        return decision
    there = await feed_of_url(tools.db, decision.move.to)
    if there is None or there.id == feed.id:
        return decision
    if there.http_options != feed.http_options:
        # Whoever reads the one was not given the other one's password.
        return replace(decision, move=replace(decision.move, settled=False))
    return replace(decision, move=replace(decision.move, settled=False, merges_with=there.id))


async def _merge_if_moved(tools: Tools, feed: Feed, decision: Decision) -> None:
    if isinstance(decision, Updated | Unchanged) and decision.move.merges_with is not None and decision.move.to:
        await merge_feeds(tools.db, feed.id, feed.url, decision.move.merges_with, decision.move.to, tools.clock())


async def _parse(response: Response) -> ParsedFeed:
    if len(response.body) <= THREAD_BYTES:
        return parse(response.body, content_type=response.content_type, url=response.final_url)
    return await asyncio.to_thread(parse, response.body, content_type=response.content_type, url=response.final_url)


def _moment(tools: Tools, started: float) -> Moment:
    now = tools.clock()
    elapsed = timedelta(seconds=time.monotonic() - started)
    return Moment(now, elapsed, tools.rules, tools.dice())


def _bad_moment(tools: Tools, started: float) -> Moment:
    """One in which it matters whether our own network is down."""
    moment = _moment(tools, started)
    return replace(moment, our_network_is_down=tools.outage.is_down(moment.now))
