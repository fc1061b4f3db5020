"""Subscribes a user to the feed at a pasted URL. Read this file first.

parse the URL → does the feed exist? → discover feeds → choose one → subscribe → use the response as its first fetch
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from feedmill.collect.discovery.candidates import FeedCandidate, candidates_of, fetch_candidates
from feedmill.collect.discovery.discover import FetchedFeed, NoFeed, PageFeeds, discover_feeds_at
from feedmill.collect.discovery.request_log import DiscoveryStep, RecordingFetcher, ignore_step
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.collect.first_fetch import HEAD_START, refresh_with_fetched
from feedmill.collect.refresh import RefreshTools
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.feeds.private_feeds import FeedTarget, find_feed_target
from feedmill.library.filters.filter_new_entries import blocked_newest_entries
from feedmill.library.filters.filter_new_subscription import add_filtered_subscriptions
from feedmill.library.subscriptions.errors import (
    AlreadySubscribed,
    NotSubscribable,
    QuotaReached,
    SeveralFeeds,
    not_subscribable,
)
from feedmill.library.subscriptions.feed_settings import check_feed_settings
from feedmill.library.subscriptions.reschedule import apply_interval
from feedmill.library.users.limits import check_byte_quota
from feedmill.library.users.preferences import shows_stories_once
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.outbound.user_urls import BadUrl, UserUrl, parse_user_url
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.read_feeds import feed_of_url
from feedmill.store.stories.story_reading import find_read_stories
from feedmill.store.subscriptions.add_subscriptions import NewSubscription
from feedmill.store.subscriptions.read_subscriptions import (
    count_subscriptions,
    subscription_ids_by_feed,
    subscription_of,
)
from feedmill.store.subscriptions.unread_entries import NEWEST_UNREAD


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """The URL and settings of a new subscription. `anyway`: also if no feed can be fetched there now."""

    url: str
    settings: FeedSettings = DEFAULT_FEED_SETTINGS
    folder_ids: tuple[int, ...] = ()
    http_options: str | None = None
    anyway: bool = False


@dataclass(frozen=True, slots=True)
class SubscribeResult:
    """`is_fetched`: the feed was fetched and has its entries; otherwise its first fetch is still to come."""

    subscription: Subscription
    is_fetched: bool


@dataclass(frozen=True, slots=True)
class DiscoveryResult:
    """The feeds found at a URL; `problem` says why there are none."""

    url: str
    candidates: list[FeedCandidate] = field(default_factory=list)
    tried: list[DiscoveryStep] = field(default_factory=list)
    problem: NotSubscribable | None = None


async def discover(
    tools: RefreshTools,
    user: User,
    url: str,
    discovery_cache: ResponseCache,
    http_options: str | None = None,
    on_step: Callable[[DiscoveryStep], None] = ignore_step,
) -> DiscoveryResult:
    """Discovers the feeds at a URL. Their responses are cached, so that subscribing need not fetch them again."""
    address = _read(url)
    options = http_options or address.http_options
    web = RecordingFetcher(tools.client, on_step)
    found = await discover_feeds_at(web, address.url, options)
    if isinstance(found, NoFeed):
        return DiscoveryResult(address.url, [], web.steps, not_subscribable(found, web))
    fetched = [found] if isinstance(found, FetchedFeed) else await fetch_candidates(web, found.feeds)
    # A response to a login must not become the first fetch of a shared feed.
    for feed in fetched if options is None else ():
        discovery_cache.keep(user.id, feed)
    return DiscoveryResult(address.url, candidates_of(found, fetched), web.steps)


async def subscribe(
    tools: RefreshTools,
    user: User,
    request: SubscribeRequest,
    discovery_cache: ResponseCache,
    patience: timedelta | None = None,
) -> SubscribeResult:
    """Subscribes the user to the feed at the URL; raises a `CallerError` if that is not possible.

    If the site does not answer within `patience`, the subscription is to the URL itself: its first fetch finds out what
    is there (`collect/page_at_feed_url.py`).
    """
    address = _read(request.url)
    request = replace(request, http_options=request.http_options or address.http_options)
    target = await find_feed_target(tools.db, user.id, address.url, has_login=request.http_options is not None)
    if target.feed_id is not None:
        return await _join(tools, user, request, target)
    await _check_quota(tools, user)
    if request.http_options is None and (cached := discovery_cache.take(user.id, address.url)):
        return await _join_found(tools, user, request, cached)
    web = RecordingFetcher(tools.client)
    try:
        async with asyncio.timeout(None if patience is None else patience.total_seconds()):
            found = await discover_feeds_at(web, address.url, request.http_options)
    except TimeoutError:
        return await _join(tools, user, request, target)
    match found:
        case FetchedFeed():
            # A password is only for the URL that it was given with.
            own = request if found.url == address.url else replace(request, http_options=None)
            return await _join_found(tools, user, own, found)
        case PageFeeds():
            raise SeveralFeeds(found.url, candidates_of(found))
        case NoFeed():
            return await _join_anyway(tools, user, request, target, not_subscribable(found, web))


async def subscribe_to_candidate(
    tools: RefreshTools, user: User, request: SubscribeRequest, discovery_cache: ResponseCache
) -> SubscribeResult:
    """Subscribes to a feed that was discovered before, without a request; its cached response is the first fetch."""
    address = _read(request.url)
    request = replace(request, http_options=request.http_options or address.http_options)
    target = await find_feed_target(tools.db, user.id, address.url, has_login=request.http_options is not None)
    cached = discovery_cache.take(user.id, address.url) if request.http_options is None else None
    if target.feed_id is None and cached:
        await _check_quota(tools, user)
        return await _join_found(tools, user, request, cached)
    return await _join(tools, user, request, target)


async def _check_quota(tools: RefreshTools, user: User) -> None:
    if user.quota_feeds is not None and await count_subscriptions(tools.db, user.id) >= user.quota_feeds:
        raise QuotaReached(user.quota_feeds)
    await check_byte_quota(tools.db, user.id)


async def _join_found(
    tools: RefreshTools, user: User, request: SubscribeRequest, found: FetchedFeed
) -> SubscribeResult:
    """Subscribes to a feed that was fetched; if it is new, the response is its first fetch."""
    target = await find_feed_target(tools.db, user.id, found.url, has_login=request.http_options is not None)
    joined = await _join(tools, user, request, target, found)
    if target.feed_id is not None:
        return joined
    _, decision = await refresh_with_fetched(tools, target.url, found)
    subscription = await subscription_of(tools.db, user.id, joined.subscription.id)
    return SubscribeResult(subscription or joined.subscription, decision is not None)


async def _join_anyway(
    tools: RefreshTools, user: User, request: SubscribeRequest, target: FeedTarget, problem: NotSubscribable
) -> SubscribeResult:
    if not request.anyway or not problem.may_pass:
        raise problem
    return await _join(tools, user, request, target)


async def _join(
    tools: RefreshTools, user: User, request: SubscribeRequest, target: FeedTarget, found: FetchedFeed | None = None
) -> SubscribeResult:
    """Subscribes to the feed, which is added if it is new."""
    if target.feed_id is not None and (
        subscribed := await subscription_ids_by_feed(tools.db, user.id, [target.feed_id])
    ):
        raise AlreadySubscribed(subscribed[target.feed_id])
    await _check_quota(tools, user)
    await check_feed_settings(tools.db, user.id, request.settings)
    now = tools.clock()
    blocked = await _not_unread(tools.db, user, target.feed_id, request.settings) if target.feed_id else ()
    feed = _new_feed(tools, request, target.url, found)
    new = NewSubscription(feed, target.feed_id, request.settings, request.folder_ids, blocked)
    due_at = now + HEAD_START if found else now
    await add_filtered_subscriptions(tools.db, user.id, [new], now, due_at, tools.later_for)
    subscription = await _subscription_at(tools, user, target)
    if target.feed_id is not None and request.settings.interval_seconds is not None:
        subscription = await apply_interval(tools.db, tools.rules, user.id, subscription, now)
    return SubscribeResult(subscription, subscription.last_fetched_at is not None)


async def _not_unread(db: Database, user: User, feed_id: int, settings: FeedSettings) -> tuple[int, ...]:
    """The newest entries of the feed that do not become unread: by rules, or because their stories were read."""
    blocked = await blocked_newest_entries(db, feed_id, settings)
    if not (settings.same_story_once and shows_stories_once(user.settings)):
        return blocked
    return (*blocked, *await find_read_stories(db, user.id, feed_id, NEWEST_UNREAD))


async def _subscription_at(tools: RefreshTools, user: User, target: FeedTarget) -> Subscription:
    feed = None if target.feed_id else await feed_of_url(tools.db, target.url)
    feed_id = feed.id if feed else target.feed_id or 0
    subscribed = await subscription_ids_by_feed(tools.db, user.id, [feed_id])
    subscription = await subscription_of(tools.db, user.id, subscribed.get(feed_id, 0))
    if subscription is None:
        raise NotFound(Message("error.unsubscribed_meanwhile"))
    return subscription


def _new_feed(tools: RefreshTools, request: SubscribeRequest, url: str, found: FetchedFeed | None) -> NewFeed:
    """The feed with the settings of its first subscriber."""
    seconds = request.settings.interval_seconds
    return NewFeed(
        url,
        found.parsed.title if found else None,
        for_subscribers=True,
        http_options=encrypt_options(tools.encryption, request.http_options),
        interval=None if seconds is None else timedelta(seconds=seconds),
        archive_policy=ArchivePolicy(request.settings.archive_policy or ArchivePolicy.ALL),
    )


def _read(url: str) -> UserUrl:
    try:
        return parse_user_url(url)
    except BadUrl as error:
        raise NotSubscribable("bad_address", error.message) from error
