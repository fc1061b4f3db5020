"""Refreshes one feed, from its claim to the atomic write. Read this file first.

claim → fetch → keep raw → parse → decide → record, in one batch with what other parts add → announce
"""

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Protocol

from feedmill.archive.blobs import Blobs
from feedmill.archive.feed_descriptors import store_descriptor
from feedmill.archive.raw_bodies import store_raw_body
from feedmill.archive.store_ownership import OwnershipCheck
from feedmill.collect import refresh_decision
from feedmill.collect.discovery.discover import FetchedFeed
from feedmill.collect.entries import storable_text
from feedmill.collect.entries.changed_guids import LEFT_WITHIN
from feedmill.collect.entries.changes import (
    compare_entries,
    entries_by_identity,
    identities_to_look_up,
    ids_that_may_be_gone,
    may_have_come_back,
)
from feedmill.collect.feed_moves import resolve_move
from feedmill.collect.fetch import Fetcher, Sleep, fetch_feed
from feedmill.collect.page_at_feed_url import FollowedPage, follow_page
from feedmill.collect.parsing.parse_off_loop import parse_off_loop
from feedmill.collect.refresh_decision import DecisionContext, NoResponse
from feedmill.collect.refresh_log import log_refresh, log_unreadable_dates
from feedmill.collect.scheduling.cadence import CadenceSettings
from feedmill.collect.scheduling.outage import OutageDetector
from feedmill.encryption import NO_ENCRYPTION, Encryption
from feedmill.errors import ConstraintViolated, NotAFeed, StatementRefused
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.model.feed import ArchivePolicy, Claim, Feed
from feedmill.model.fetch_outcome import FetchOutcome, NotModified, Response
from feedmill.model.parsed_feed import ParsedEntry, ParsedFeed
from feedmill.model.refresh import (
    EntryDiff,
    FeedMove,
    GoneEntry,
    KnownEntry,
    RawBody,
    RefreshDecision,
    Unchanged,
    Updated,
)
from feedmill.model.syndication.push import PushedBody
from feedmill.outbound.encrypted_options import decrypt_options, parse_options
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.entries.deferred_entries import is_popular
from feedmill.store.entries.known_entries import find_entries_that_left, find_gone_entries, find_known_entries
from feedmill.store.feeds.merge_feeds import Merge, merge_feeds
from feedmill.store.feeds.record_refresh import record_refresh

log = get_logger(__name__)

# Shorter than a handler gives a refresh to store: it would count as an outage of the database.
MERGE_TIME = timedelta(seconds=15)

# Of the entries that left a feed not long ago, so many are looked for under other guids.
MOST_LEFT = 500

NOTHING_KNOWN: tuple[dict[str, KnownEntry], set[str]] = ({}, set())


class RefreshWriter(Protocol):
    """PORT: adds steps to the atomic write of a refresh. It may read the database but writes nothing itself."""

    async def __call__(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        """The steps to add for this decision; none if it does not concern this writer."""


async def write_nothing(claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    return ()


@dataclass(frozen=True, slots=True)
class RefreshWriters:
    """The writers of layers that `collect` may not import; `app.py` supplies them, `refresh_feed` orders them."""

    pools: RefreshWriter = write_nothing
    webhooks: RefreshWriter = write_nothing
    notifications: RefreshWriter = write_nothing
    filters: RefreshWriter = write_nothing
    stories: RefreshWriter = write_nothing
    output_feeds: RefreshWriter = write_nothing


@dataclass(frozen=True, slots=True)
class RefreshTools:
    """What a refresh works with."""

    db: Database
    blobs: Blobs
    client: Fetcher
    rules: CadenceSettings = field(default_factory=CadenceSettings)
    soft_limit: timedelta = timedelta(seconds=90)
    sleep: Sleep = asyncio.sleep
    announce: Callable[[Feed, RefreshDecision], None] = lambda feed, decision: None
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    jitter: Callable[[], float] = random.random
    outage: OutageDetector = field(default_factory=OutageDetector)
    ownership: OwnershipCheck = field(default_factory=OwnershipCheck)
    encryption: Encryption = NO_ENCRYPTION
    writers: RefreshWriters = field(default_factory=RefreshWriters)
    # For how long a filter puts what a new subscription brings among what to read later.
    later_for: timedelta = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class _BodyToParse:
    """A body with its digest; `raw` is None if the archive had it already."""

    response: Response
    sha256: str
    raw: RawBody | None


async def refresh_feed(
    tools: RefreshTools,
    claim: Claim,
    job_writer: RefreshWriter = write_nothing,
    prefetched: FetchedFeed | None = None,
    pushed: PushedBody | None = None,
) -> RefreshDecision:
    """Refreshes a feed that the caller has claimed and returns what was recorded.

    `job_writer` records the end of the caller's job in the same batch. `prefetched` is what discovery has fetched and
    parsed: it is used instead of a request. So is `pushed`, which came from a hub and is archived already; if it is no
    feed, the feed is fetched.
    """
    decision = await _decide_pushed(tools, claim.feed, pushed) if pushed else None
    decision = decision or await _fetch_and_decide(tools, claim.feed, prefetched)
    extra_writers: Sequence[RefreshWriter] = (
        _DescriptorWriter(tools),  # remembers which descriptor of the feed the object store has
        tools.writers.pools,  # adds new entries to the pools whose rules they match
        tools.writers.webhooks,  # queues events for the webhooks of subscribers
        tools.writers.notifications,  # queues events for the notification targets of subscribers
        tools.writers.filters,  # applies the rules and filters of subscribers to new entries
        tools.writers.stories,  # joins new entries to those of other feeds that are the same article
        tools.writers.output_feeds,  # queues output feeds that a WebSub hub is told of
        job_writer,
    )
    recorded = await _record(tools, claim, decision, extra_writers)
    await _merge_if_moved(tools, claim.feed, recorded)
    log_refresh(claim.feed, recorded)
    tools.announce(claim.feed, recorded)
    return recorded


async def _decide_pushed(tools: RefreshTools, feed: Feed, pushed: PushedBody) -> RefreshDecision | None:
    """parse → decide; None if what a hub pushed is no feed, or is cut off."""
    started, response = time.monotonic(), pushed.response
    try:
        parsed = await _parse(response, None)
    except NotAFeed:
        return None
    if parsed.is_truncated:
        return None
    context = _decision_context(tools, started)
    # The hub may leave out what it has pushed before.
    changes = await _compare(tools, feed, response, parsed, context.now, is_partial=True)
    raw = pushed.raw
    decision = refresh_decision.decide_updated(feed, response, parsed, changes, raw, raw.sha256, context)
    return refresh_decision.decide_pushed(feed, decision, pushed.lease_until, context)


async def _fetch_and_decide(tools: RefreshTools, feed: Feed, prefetched: FetchedFeed | None) -> RefreshDecision:
    """fetch → keep raw → parse → decide. Writes nothing but the raw body."""
    started = time.monotonic()
    outcome = await _fetch(tools, feed, prefetched)
    if not isinstance(outcome, Response | NotModified):
        return _decide_without_response(tools, feed, outcome, started)
    observed = refresh_decision.observed_move(feed, outcome.permanent_url)
    move = await resolve_move(tools.db, tools.encryption, feed, observed)
    return await _decide(tools, feed, outcome, prefetched, move, started)


async def _decide(
    tools: RefreshTools,
    feed: Feed,
    outcome: Response | NotModified,
    prefetched: FetchedFeed | None,
    move: FeedMove,
    started: float,
) -> RefreshDecision:
    """keep raw → parse → decide."""
    context = _decision_context(tools, started)
    if move.merges_with is not None:
        return replace(refresh_decision.decide_moved_away(feed, outcome, context), move=move)
    body = await _keep_raw(tools, feed, outcome) if isinstance(outcome, Response) else None
    if body is None:
        return replace(refresh_decision.decide_unchanged(feed, outcome, context), move=move)
    try:
        parsed = await _parse(body.response, prefetched)
    except NotAFeed as error:
        return await _decide_not_a_feed(tools, feed, body, error.message, started)
    changes = await _compare(tools, feed, body.response, parsed, context.now, is_partial=parsed.is_truncated)
    decision = refresh_decision.decide_updated(feed, body.response, parsed, changes, body.raw, body.sha256, context)
    if parsed.is_truncated:
        decision = refresh_decision.decide_truncated(feed, decision, context)
    return replace(decision, move=move)


async def _decide_not_a_feed(
    tools: RefreshTools, feed: Feed, body: _BodyToParse, failure: Message, started: float
) -> RefreshDecision:
    """Follows a page at the URL of a new feed; anything else in place of a feed is a failure."""
    patience = tools.soft_limit - timedelta(seconds=time.monotonic() - started)
    page = await follow_page(tools.db, tools.client, feed, body.response, patience)
    if isinstance(page, FollowedPage):
        if body.raw is not None:
            # The page is no body of the feed, and no row will name it.
            await tools.blobs.delete_many([body.raw.key])
        return await _decide(tools, feed, page.feed.response, page.feed, page.move, started)
    context = _decision_context(tools, started)
    return refresh_decision.decide_not_a_feed(feed, body.response, page or failure, body.raw, body.sha256, context)


async def _fetch(tools: RefreshTools, feed: Feed, prefetched: FetchedFeed | None) -> FetchOutcome | None:
    """The outcome of the request and its quick retries; None if they took longer than the soft limit."""
    if prefetched is not None:
        tools.outage.record(feed.url, prefetched.response, tools.clock())
        return prefetched.response
    options = parse_options(decrypt_options(tools.encryption, feed.http_options))
    try:
        # The fetch alone: slow storage of our own is not the feed's failure.
        async with asyncio.timeout(tools.soft_limit.total_seconds()):
            outcome = await fetch_feed(tools.client, feed, tools.sleep, tools.jitter, options)
    except TimeoutError:
        return None
    tools.outage.record(feed.url, outcome, tools.clock())
    return outcome


def _decide_without_response(
    tools: RefreshTools, feed: Feed, outcome: NoResponse | None, started: float
) -> RefreshDecision:
    context = _decision_context(tools, started)
    context = replace(context, our_network_is_down=tools.outage.is_down(context.now))
    if outcome is None:
        return refresh_decision.decide_timeout(feed, context)
    return refresh_decision.decide_not_fetched(feed, outcome, context)


async def _keep_raw(tools: RefreshTools, feed: Feed, response: Response) -> _BodyToParse | None:
    """Archives the body unless it equals the last one; None if that one was parsed without error."""
    digest = await run_in_thread_if_large(len(response.body), _sha256, response.body)
    if digest != feed.body_sha256:
        return _BodyToParse(response, digest, await store_raw_body(tools.blobs, feed.id, response, digest))
    return None if feed.last_error_kind is None else _BodyToParse(response, digest, None)


async def _parse(response: Response, prefetched: FetchedFeed | None) -> ParsedFeed:
    if prefetched is not None:
        return prefetched.parsed
    return await parse_off_loop(response.body, content_type=response.content_type, url=response.final_url)


async def _compare(
    tools: RefreshTools, feed: Feed, response: Response, parsed: ParsedFeed, now: datetime, *, is_partial: bool
) -> EntryDiff:
    """What the parsed feed changes in the stored entries. What it lacks has not left the feed if it `is_partial`."""
    size = len(response.body)
    entries = await run_in_thread_if_large(size, entries_by_identity, parsed)
    is_new = feed.last_success_at is None and not feed.entry_count
    known, purged = (
        NOTHING_KNOWN if is_new else await find_known_entries(tools.db, feed.id, identities_to_look_up(entries))
    )
    gone = [] if is_partial or is_new else await _find_gone(tools.db, feed, entries, known, now)
    with_images = feed.archive_policy is ArchivePolicy.ALL
    site_url = storable_text.storable_link(parsed.link) or response.final_url
    changes = await run_in_thread_if_large(
        size,
        compare_entries,
        entries,
        known,
        purged,
        now,
        site_url=site_url,
        with_images=with_images,
        is_first=is_new,
        gone=gone,
    )
    log_unreadable_dates(feed, entries, changes)
    return replace(changes, dropped=(), overflows=False) if is_partial else changes


async def _find_gone(
    db: Database, feed: Feed, entries: Mapping[str, ParsedEntry], known: Mapping[str, KnownEntry], now: datetime
) -> list[GoneEntry]:
    """The stored entries that may be in the feed under other guids."""
    gone = await find_gone_entries(db, ids_that_may_be_gone(entries, known))
    if not may_have_come_back(entries, known):
        return gone
    return gone + await find_entries_that_left(db, feed.id, now - LEFT_WITHIN, MOST_LEFT)


async def _record(
    tools: RefreshTools, claim: Claim, decision: RefreshDecision, extra_writers: Sequence[RefreshWriter]
) -> RefreshDecision:
    """Writes the decision and the steps of the extra writers, in their order, in one batch.

    If the database refuses it, it is tried without filters and stories: no filter of a user stops a feed. If it refuses
    that too, a failure of this feed is recorded instead. Returns the decision that was written.
    """
    fields = {"feed_id": claim.feed.id, "feed_url": claim.feed.url}
    if isinstance(decision, Updated) and decision.changes.new and await is_popular(tools.db, claim.feed.id):
        decision = replace(decision, defers_unread=True)
    try:
        await _write(tools.db, claim, decision, extra_writers)
        return decision
    except (ConstraintViolated, StatementRefused) as error:
        log.error("filters_not_applied", **fields, exc_info=error)
    left_out = (tools.writers.filters, tools.writers.stories)
    needed_writers = [writer for writer in extra_writers if writer not in left_out]
    try:
        await _write(tools.db, claim, decision, needed_writers)
        return decision
    except (ConstraintViolated, StatementRefused) as error:
        log.error("entries_not_stored", **fields, exc_info=error)
        context = _decision_context(tools, time.monotonic())
        failed = refresh_decision.decide_not_stored(claim.feed, decision, error.message, context)
    await _write(tools.db, claim, failed, extra_writers)
    return failed


async def _write(db: Database, claim: Claim, decision: RefreshDecision, extra_writers: Sequence[RefreshWriter]) -> None:
    extra_steps = [step for writer in extra_writers for step in await writer(claim, decision)]
    await record_refresh(db, claim, decision, extra_steps)


@dataclass(frozen=True, slots=True)
class _DescriptorWriter:
    """Stores the feed's descriptor in the object store, ahead of the batch that remembers its digest."""

    tools: RefreshTools

    async def __call__(self, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
        tools = self.tools
        return await store_descriptor(tools.db, tools.blobs, tools.ownership, claim.feed, decision, tools.clock())


async def _merge_if_moved(tools: RefreshTools, feed: Feed, decision: RefreshDecision) -> None:
    """Not in the batch of the refresh: after a crash in between, the next fetch does it again.

    It also goes on with what takes too long, because both feeds have very many subscribers.
    """
    if not isinstance(decision, Unchanged) or decision.move.merges_with is None or decision.move.to is None:
        return
    merge = Merge(feed.id, feed.url, decision.move.merges_with, decision.move.to, seen_until=feed.last_success_at)
    feeds = {
        "feed_id": feed.id,
        "feed_url": feed.url,
        "target_feed_id": merge.target,
        "target_feed_url": merge.target_url,
    }
    try:
        async with asyncio.timeout(MERGE_TIME.total_seconds()):
            await merge_feeds(tools.db, merge, tools.clock())
    except TimeoutError:
        log.warning("feed_merge_interrupted", **feeds)
    else:
        log.info("feed_merged", **feeds)


def _sha256(data: bytes) -> str:
    return sha256(data).hexdigest()


def _decision_context(tools: RefreshTools, started: float) -> DecisionContext:
    now = tools.clock()
    elapsed = timedelta(seconds=time.monotonic() - started)
    return DecisionContext(now, elapsed, tools.rules, tools.jitter())
