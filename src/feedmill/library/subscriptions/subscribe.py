"""Subscribes a user to the feed at a pasted URL. Read this file first.

read the address → is the feed here already? → look at what is there → choose → subscribe → take the answer as its
first fetch
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from feedmill.collect.discovery.candidates import FeedCandidate, candidates_of, fetch_candidates
from feedmill.collect.discovery.discover import FetchedFeed, NoFeed, PageFeeds, discover_feeds_at
from feedmill.collect.discovery.request_log import DiscoveryStep, RecordingFetcher, ignore_step
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.collect.first_fetch import HEAD_START, refresh_with_fetched
from feedmill.collect.pasted_url import BadUrl, PastedUrl, parse_pasted_url
from feedmill.collect.refresh import RefreshTools
from feedmill.errors import NotFound
from feedmill.library.feeds.private_feeds import FeedTarget, find_feed_target
from feedmill.library.filters.new_entries import blocked_newest_entries
from feedmill.library.subscriptions.edit import apply_interval
from feedmill.library.subscriptions.errors import (
    AlreadySubscribed,
    NotSubscribable,
    QuotaReached,
    SeveralFeeds,
    not_subscribable,
)
from feedmill.library.subscriptions.feed_settings import check_feed_settings
from feedmill.library.users.limits import check_byte_quota
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.model.subscription import Subscription
from feedmill.model.user import User
from feedmill.outbound.fetch_options import encrypt_options
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.read_feeds import feed_of_url
from feedmill.store.subscriptions.add_subscriptions import NewSubscription, add_subscriptions
from feedmill.store.subscriptions.subscriptions import count_subscriptions, subscription_ids_by_feed, subscription_of


@dataclass(frozen=True, slots=True)
class SubscribeRequest:
    """What a person asks for. `anyway`: also when nothing can be had there now."""

    url: str
    settings: FeedSettings = DEFAULT_FEED_SETTINGS
    folder_ids: tuple[int, ...] = ()
    http_options: str | None = None
    anyway: bool = False


@dataclass(frozen=True, slots=True)
class SubscribeResult:
    """`is_fetched`: the feed has been asked, and its entries are there; else it waits for its turn."""

    subscription: Subscription
    is_fetched: bool


@dataclass(frozen=True, slots=True)
class DiscoveryResult:
    """What was found at an address; `problem` says why there is nothing to choose from."""

    url: str
    candidates: list[FeedCandidate] = field(default_factory=list)
    tried: list[DiscoveryStep] = field(default_factory=list)
    problem: NotSubscribable | None = None


async def discover(
    tools: RefreshTools,
    user: User,
    url: str,
    answers: ResponseCache,
    http_options: str | None = None,
    on_step: Callable[[DiscoveryStep], None] = ignore_step,
) -> DiscoveryResult:
    """Looks at what is there; the answers of its feeds are remembered for who subscribes next."""
    address = _read(url)
    options = http_options or address.http_options
    web = RecordingFetcher(tools.client, on_step)
    found = await discover_feeds_at(web, address.url, options)
    if isinstance(found, NoFeed):
        return DiscoveryResult(address.url, [], web.steps, not_subscribable(found, web))
    fetched = [found] if isinstance(found, FetchedFeed) else await fetch_candidates(web, found.feeds)
    # What a login opened must not become the first fetch of a feed that others share.
    for feed in fetched if options is None else ():
        answers.keep(user.id, feed)
    return DiscoveryResult(address.url, candidates_of(found, fetched), web.steps)


async def subscribe(tools: RefreshTools, user: User, wish: SubscribeRequest, answers: ResponseCache) -> SubscribeResult:
    """Subscribes the user to the feed at the address; raises a `CallerError` that says what to do instead."""
    address = _read(wish.url)
    wish = replace(wish, http_options=wish.http_options or address.http_options)
    place = await find_feed_target(tools.db, user.id, address.url, has_login=wish.http_options is not None)
    if place.feed_id is not None:
        return await _join(tools, user, wish, place)
    await _check_quota(tools, user)
    if wish.http_options is None and (remembered := answers.take(user.id, address.url)):
        return await _join_found(tools, user, wish, remembered)
    web = RecordingFetcher(tools.client)
    found = await discover_feeds_at(web, address.url, wish.http_options)
    match found:
        case FetchedFeed():
            # A password was meant for the address that it came with.
            own = wish if found.url == address.url else replace(wish, http_options=None)
            return await _join_found(tools, user, own, found)
        case PageFeeds():
            raise SeveralFeeds(found.url, candidates_of(found))
        case NoFeed():
            return await _join_anyway(tools, user, wish, place, not_subscribable(found, web))


async def subscribe_to_candidate(
    tools: RefreshTools, user: User, wish: SubscribeRequest, answers: ResponseCache
) -> SubscribeResult:
    """Subscribes to a feed that was found before, and asks nobody: without its answer, its first fetch is to come."""
    address = _read(wish.url)
    wish = replace(wish, http_options=wish.http_options or address.http_options)
    place = await find_feed_target(tools.db, user.id, address.url, has_login=wish.http_options is not None)
    remembered = answers.take(user.id, address.url) if wish.http_options is None else None
    if place.feed_id is None and remembered:
        await _check_quota(tools, user)
        return await _join_found(tools, user, wish, remembered)
    return await _join(tools, user, wish, place)


async def _check_quota(tools: RefreshTools, user: User) -> None:
    if user.quota_feeds is not None and await count_subscriptions(tools.db, user.id) >= user.quota_feeds:
        raise QuotaReached(user.quota_feeds)
    await check_byte_quota(tools.db, user.id)


async def _join_found(tools: RefreshTools, user: User, wish: SubscribeRequest, found: FetchedFeed) -> SubscribeResult:
    """Subscribes to the feed that answered; if it is new here, that answer is its first fetch."""
    place = await find_feed_target(tools.db, user.id, found.url, has_login=wish.http_options is not None)
    joined = await _join(tools, user, wish, place, found)
    if place.feed_id is not None:
        return joined
    _, decision = await refresh_with_fetched(tools, place.url, found)
    subscription = await subscription_of(tools.db, user.id, joined.subscription.id)
    return SubscribeResult(subscription or joined.subscription, decision is not None)


async def _join_anyway(
    tools: RefreshTools, user: User, wish: SubscribeRequest, place: FeedTarget, problem: NotSubscribable
) -> SubscribeResult:
    if not wish.anyway or not problem.may_pass:
        raise problem
    return await _join(tools, user, wish, place)


async def _join(
    tools: RefreshTools, user: User, wish: SubscribeRequest, place: FeedTarget, found: FetchedFeed | None = None
) -> SubscribeResult:
    """Subscribes to the feed at that place, which is added if it is not here yet."""
    if place.feed_id is not None and (mine := await subscription_ids_by_feed(tools.db, user.id, [place.feed_id])):
        raise AlreadySubscribed(mine[place.feed_id])
    await _check_quota(tools, user)
    await check_feed_settings(tools.db, user.id, wish.settings)
    now = tools.clock()
    blocked = await blocked_newest_entries(tools.db, place.feed_id, wish.settings) if place.feed_id else ()
    feed = _new_feed(tools, wish, place.url, found)
    new = NewSubscription(feed, place.feed_id, wish.settings, wish.folder_ids, blocked)
    await add_subscriptions(tools.db, user.id, [new], now, now + HEAD_START if found else now)
    subscription = await _subscription_at(tools, user, place)
    if place.feed_id is not None and wish.settings.interval_seconds is not None:
        subscription = await apply_interval(tools.db, tools.rules, user.id, subscription, now)
    return SubscribeResult(subscription, subscription.last_fetched_at is not None)


async def _subscription_at(tools: RefreshTools, user: User, place: FeedTarget) -> Subscription:
    feed = None if place.feed_id else await feed_of_url(tools.db, place.url)
    feed_id = feed.id if feed else place.feed_id or 0
    mine = await subscription_ids_by_feed(tools.db, user.id, [feed_id])
    subscription = await subscription_of(tools.db, user.id, mine.get(feed_id, 0))
    if subscription is None:
        raise NotFound("the subscription was ended again meanwhile")
    return subscription


def _new_feed(tools: RefreshTools, wish: SubscribeRequest, url: str, found: FetchedFeed | None) -> NewFeed:
    """The feed as its first subscriber wants it."""
    seconds = wish.settings.interval_seconds
    return NewFeed(
        url,
        found.parsed.title if found else None,
        for_subscribers=True,
        http_options=encrypt_options(tools.encryption, wish.http_options),
        interval=None if seconds is None else timedelta(seconds=seconds),
        archive_policy=ArchivePolicy(wish.settings.archive_policy or ArchivePolicy.ALL),
    )


def _read(url: str) -> PastedUrl:
    try:
        return parse_pasted_url(url)
    except BadUrl as error:
        raise NotSubscribable("bad_address", str(error)) from error
