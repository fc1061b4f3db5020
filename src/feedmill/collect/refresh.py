"""Refreshes one feed, from its claim to the atomic write. Read this file first.

claim → fetch → keep raw → decode → parse → decide → keep the card → store in one batch → announce
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from feedmill.archive.blobs import Blobs
from feedmill.archive.feed_descriptors import store_descriptor
from feedmill.archive.raw_bodies import store_raw_body
from feedmill.archive.store_ownership import OwnershipCheck
from feedmill.collect import refresh_decision
from feedmill.collect.entries import storable_fields
from feedmill.collect.entries.changes import compare_entries, entries_by_identity, identities_to_look_up
from feedmill.collect.feed_moves import resolve_move
from feedmill.collect.fetch import Fetcher, Sleep, fetch_feed
from feedmill.collect.parsing.parse_off_loop import parse_off_loop
from feedmill.collect.refresh_decision import DecisionContext
from feedmill.collect.refresh_log import log_refresh, log_unreadable_dates
from feedmill.collect.scheduling.cadence import CadenceSettings
from feedmill.collect.scheduling.outage import OutageDetector
from feedmill.encryption import NO_ENCRYPTION, Encryption
from feedmill.errors import ConstraintViolated, NotAFeed, StatementRefused
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import ArchivePolicy, Claim, Feed
from feedmill.model.fetch_outcome import NotModified, Response
from feedmill.model.parsed_feed import ParsedFeed
from feedmill.model.refresh import KnownEntry, RawBody, RefreshDecision, Unchanged, Updated
from feedmill.outbound.fetch_options import decrypt_options, parse_options
from feedmill.store.database import Database, Step
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.feeds.record_refresh import find_known_entries, record_refresh
from feedmill.threads import run_in_thread_if_large

log = get_logger(__name__)

NOTHING_KNOWN: tuple[dict[str, KnownEntry], set[str]] = ({}, set())


DecisionWrites = Callable[[RefreshDecision], Sequence[Step]]


def no_decision_writes(decision: RefreshDecision) -> Sequence[Step]:
    return ()


ExtraWrites = Callable[[Claim, RefreshDecision], Awaitable[Sequence[Step]]]


async def no_extra_writes(claim: Claim, decision: RefreshDecision) -> Sequence[Step]:
    return ()


@dataclass(frozen=True, slots=True)
class RefreshTools:
    """What a refresh works with."""

    db: Database
    blobs: Blobs
    client: Fetcher
    rules: CadenceSettings = field(default_factory=CadenceSettings)
    soft_limit: timedelta = timedelta(seconds=90)
    rest: Sleep = asyncio.sleep
    announce: Callable[[Feed, RefreshDecision], None] = lambda feed, decision: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    dice: Callable[[], float] = random.random
    outage: OutageDetector = field(default_factory=OutageDetector)
    ownership: OwnershipCheck = field(default_factory=OwnershipCheck)
    encryption: Encryption = NO_ENCRYPTION
    # What is written besides: new entries join the pools that want them, webhooks are told.
    besides: ExtraWrites = no_extra_writes


async def refresh_feed(tools: RefreshTools, claim: Claim, also: DecisionWrites = no_decision_writes) -> RefreshDecision:
    """Refreshes a claimed feed; what `also` makes of the decision is written in the same batch."""
    started = time.monotonic()
    decision = await _decide(tools, claim.feed, started)
    recorded = await _record(tools, claim, decision, also)
    await _merge_if_moved(tools, claim.feed, recorded)
    log_refresh(claim.feed, recorded)
    tools.announce(claim.feed, recorded)
    return recorded


async def _record(
    tools: RefreshTools, claim: Claim, decision: RefreshDecision, also: DecisionWrites
) -> RefreshDecision:
    """Writes the decision; what the database can't take is this feed's failure and nobody else's."""
    try:
        await record_refresh(tools.db, claim, decision, await _extra_writes(tools, claim, decision, also))
    except (ConstraintViolated, StatementRefused) as error:
        log.error("what a feed offers can't be stored", feed_id=claim.feed.id, url=claim.feed.url, exc_info=error)
        decision = refresh_decision.decide_not_stored(
            claim.feed, decision, str(error), _decision_context(tools, time.monotonic())
        )
        await record_refresh(tools.db, claim, decision, await _extra_writes(tools, claim, decision, also))
    return decision


async def _extra_writes(
    tools: RefreshTools, claim: Claim, decision: RefreshDecision, also: DecisionWrites
) -> list[Step]:
    card = await store_descriptor(tools.db, tools.blobs, tools.ownership, claim.feed, decision, tools.clock())
    return [*card, *await tools.besides(claim, decision), *also(decision)]


async def _decide(tools: RefreshTools, feed: Feed, started: float) -> RefreshDecision:
    options = parse_options(decrypt_options(tools.encryption, feed.http_options))
    try:
        # The fetch alone: when our own storage is slow, no feed is to blame.
        async with asyncio.timeout(tools.soft_limit.total_seconds()):
            outcome = await fetch_feed(tools.client, feed, tools.rest, tools.dice, options)
    except TimeoutError:
        return refresh_decision.decide_timeout(feed, _failure_context(tools, started))
    tools.outage.saw(feed.url, outcome, tools.clock())
    moment = _decision_context(tools, started)
    match outcome:
        case Response() | NotModified():
            return await _follow_move(tools, feed, outcome, moment)
        case _:
            return refresh_decision.decide_not_fetched(feed, outcome, _failure_context(tools, started))


async def _follow_move(
    tools: RefreshTools, feed: Feed, answer: Response | NotModified, moment: DecisionContext
) -> RefreshDecision:
    """Decides what the redirects come to first: once they lead to another feed, the answer is not this one's."""
    move = await resolve_move(
        tools.db, tools.encryption, feed, refresh_decision.observed_move(feed, answer.permanent_url)
    )
    if move.merges_with is not None:
        return replace(refresh_decision.decide_moved_away(feed, answer, moment), move=move)
    if isinstance(answer, Response):
        decision = await _parse(tools, feed, answer, moment)
    else:
        decision = refresh_decision.decide_unchanged(feed, answer, moment)
    return replace(decision, move=move) if isinstance(decision, Updated | Unchanged) else decision


async def _parse(tools: RefreshTools, feed: Feed, response: Response, moment: DecisionContext) -> RefreshDecision:
    digest = await run_in_thread_if_large(len(response.body), _sha256, response.body)
    seen_before = digest == feed.body_sha256
    if seen_before and feed.last_error_kind is None:
        return refresh_decision.decide_unchanged(feed, response, moment)
    raw = None if seen_before else await store_raw_body(tools.blobs, feed.id, response, digest)
    try:
        parsed = await parse_off_loop(response.body, content_type=response.content_type, url=response.final_url)
    except NotAFeed as error:
        return refresh_decision.decide_not_a_feed(feed, response, str(error), raw, digest, moment)
    return await _compare(tools, feed, response, parsed, raw, digest, moment)


async def _compare(
    tools: RefreshTools,
    feed: Feed,
    response: Response,
    parsed: ParsedFeed,
    raw: RawBody | None,
    digest: str,
    moment: DecisionContext,
) -> RefreshDecision:
    size = len(response.body)
    entries = await run_in_thread_if_large(size, entries_by_identity, parsed)
    is_new = feed.last_success_at is None and not feed.entry_count
    known, purged = (
        NOTHING_KNOWN if is_new else await find_known_entries(tools.db, feed.id, identities_to_look_up(entries))
    )
    with_images = feed.archive_policy is ArchivePolicy.ALL
    site_url = storable_fields.storable_link(parsed.link) or response.final_url
    changes = await run_in_thread_if_large(
        size, compare_entries, entries, known, purged, moment.now, site_url=site_url, with_images=with_images
    )
    if parsed.is_truncated:  # what it lacks has not left the feed
        changes = replace(changes, dropped=(), overflows=False)
    log_unreadable_dates(feed, entries, changes)
    decision = refresh_decision.decide_updated(feed, response, parsed, changes, raw, digest, moment)
    return refresh_decision.decide_truncated(feed, decision, moment) if parsed.is_truncated else decision


async def _merge_if_moved(tools: RefreshTools, feed: Feed, decision: RefreshDecision) -> None:
    """Not in the batch of the refresh: killed in between, the next fetch does it again."""
    if not isinstance(decision, Unchanged) or decision.move.merges_with is None or decision.move.to is None:
        return
    merge = Merge(feed.id, feed.url, decision.move.merges_with, decision.move.to, seen_until=feed.last_success_at)
    await merge_feeds(tools.db, merge, tools.clock())
    log.info("feed_merged", feed_id=feed.id, url=feed.url, into=merge.target, target_url=merge.target_url)


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()


def _decision_context(tools: RefreshTools, started: float) -> DecisionContext:
    now = tools.clock()
    elapsed = timedelta(seconds=time.monotonic() - started)
    return DecisionContext(now, elapsed, tools.rules, tools.dice())


def _failure_context(tools: RefreshTools, started: float) -> DecisionContext:
    """One in which it matters whether our own network is down."""
    moment = _decision_context(tools, started)
    return replace(moment, our_network_is_down=tools.outage.is_down(moment.now))
