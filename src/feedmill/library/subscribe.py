"""The spine: how a pasted address becomes a subscription. Read this file first.

read the address → is the feed here already? → look at what is there → choose → subscribe → take the answer as its
first fetch
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from feedmill.collect.address import Address, BadAddress, read_address
from feedmill.collect.find import FeedHere, FeedsOfPage, NoFeed
from feedmill.collect.first_fetch import HEAD_START, take_answer
from feedmill.collect.refresh import Tools
from feedmill.errors import NotFound
from feedmill.library.discovery import Answers, Candidate, Looking, Tried, described, look, look_into, tell_nobody
from feedmill.library.feed_settings import check_settings
from feedmill.library.limits import check_room
from feedmill.library.privacy import Place, place_of
from feedmill.library.subscriptions import follow_interval
from feedmill.library.tailoring import blocked_of_newest
from feedmill.library.unfit import AlreadySubscribed, NotSubscribable, QuotaReached, SeveralFeeds, why_not
from feedmill.model.account import User
from feedmill.model.feed import ArchivePolicy
from feedmill.model.feed_settings import NO_SETTINGS, FeedSettings
from feedmill.model.subscription import NO_CHOICE, Choice, Subscription
from feedmill.store.additions import NewFeed
from feedmill.store.feeds import feed_of_url
from feedmill.store.subscribing import NewSubscription, add_subscriptions
from feedmill.store.subscriptions import count_subscriptions, subscribed_to, subscription_of


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person asks for. `anyway`: also when nothing can be had there now."""

    url: str
    choice: Choice = NO_CHOICE
    folder_ids: tuple[int, ...] = ()
    http_options: str | None = None
    anyway: bool = False
    settings: FeedSettings = NO_SETTINGS


@dataclass(frozen=True, slots=True)
class Subscribed:
    """`is_fetched`: the feed has been asked, and its entries are there; else it waits for its turn."""

    subscription: Subscription
    is_fetched: bool


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found at an address; `problem` says why there is nothing to choose from."""

    url: str
    candidates: list[Candidate] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    problem: NotSubscribable | None = None


async def discover(
    tools: Tools, user: User, url: str, answers: Answers, http_options: str | None = None,
    tell: Callable[[Tried], None] = tell_nobody,
) -> Discovery:  # fmt: skip
    """Looks at what is there; the answers of its feeds are remembered for who subscribes next."""
    address = _read(url)
    options = http_options or address.http_options
    web = Looking(tools.client, tell)
    found, candidates = await look(web, address.url, options)
    if isinstance(found, NoFeed):
        return Discovery(address.url, [], web.tried, why_not(found, web))
    here = [found] if isinstance(found, FeedHere) else await look_into(web, found.feeds)
    # What a login opened must not become the first fetch of a feed that others share.
    for each in here if options is None else ():
        answers.keep(user.id, each)
    if isinstance(found, FeedsOfPage):
        candidates = described(candidates, here)
    return Discovery(address.url, candidates, web.tried)


async def subscribe(tools: Tools, user: User, wish: Wish, answers: Answers) -> Subscribed:
    """Subscribes the user to the feed at the address; raises a `CallerError` that says what to do instead."""
    address = _read(wish.url)
    wish = replace(wish, http_options=wish.http_options or address.http_options)
    place = await place_of(tools.db, user.id, address.url, wish.http_options)
    if place.feed_id is not None:
        return await _join(tools, user, wish, place)
    await _check_quota(tools, user)
    if wish.http_options is None and (remembered := answers.take(user.id, address.url)):
        return await _join_found(tools, user, wish, remembered)
    web = Looking(tools.client)
    found, candidates = await look(web, address.url, wish.http_options)
    match found:
        case FeedHere():
            # A password was meant for the address that it came with.
            own = wish if found.url == address.url else replace(wish, http_options=None)
            return await _join_found(tools, user, own, found)
        case FeedsOfPage():
            raise SeveralFeeds(found.url, candidates)
        case NoFeed():
            return await _join_anyway(tools, user, wish, place, why_not(found, web))


async def subscribe_found(tools: Tools, user: User, wish: Wish, answers: Answers) -> Subscribed:
    """Subscribes to a feed that was found before, and asks nobody: without its answer, its first fetch is to come."""
    address = _read(wish.url)
    wish = replace(wish, http_options=wish.http_options or address.http_options)
    place = await place_of(tools.db, user.id, address.url, wish.http_options)
    remembered = answers.take(user.id, address.url) if wish.http_options is None else None
    if place.feed_id is None and remembered:
        await _check_quota(tools, user)
        return await _join_found(tools, user, wish, remembered)
    return await _join(tools, user, wish, place)


async def _check_quota(tools: Tools, user: User) -> None:
    if user.quota_feeds is not None and await count_subscriptions(tools.db, user.id) >= user.quota_feeds:
        raise QuotaReached(user.quota_feeds)
    await check_room(tools.db, user.id)


async def _join_found(tools: Tools, user: User, wish: Wish, found: FeedHere) -> Subscribed:
    """Subscribes to the feed that answered; if it is new here, that answer is its first fetch."""
    place = await place_of(tools.db, user.id, found.url, wish.http_options)
    joined = await _join(tools, user, wish, place, found)
    if place.feed_id is not None:
        return joined
    _, decision = await take_answer(tools, place.url, found.response)
    subscription = await subscription_of(tools.db, user.id, joined.subscription.id)
    return Subscribed(subscription or joined.subscription, decision is not None)


async def _join_anyway(tools: Tools, user: User, wish: Wish, place: Place, problem: NotSubscribable) -> Subscribed:
    if not wish.anyway or not problem.may_pass:
        raise problem
    return await _join(tools, user, wish, place)


async def _join(tools: Tools, user: User, wish: Wish, place: Place, found: FeedHere | None = None) -> Subscribed:
    """Subscribes to the feed at that place, which is added if it is not here yet."""
    if place.feed_id is not None and (mine := await subscribed_to(tools.db, user.id, [place.feed_id])):
        raise AlreadySubscribed(mine[place.feed_id])
    await _check_quota(tools, user)
    await check_settings(tools.db, user.id, wish.settings)
    now = tools.clock()
    blocked = await blocked_of_newest(tools.db, place.feed_id, wish.settings) if place.feed_id else ()
    feed = _new_feed(wish, place.url, found)
    new = NewSubscription(feed, place.feed_id, wish.choice, wish.folder_ids, wish.settings, blocked)
    await add_subscriptions(tools.db, user.id, [new], now, now + HEAD_START if found else now)
    subscription = await _subscription_at(tools, user, place)
    if place.feed_id is not None and wish.choice.interval_seconds is not None:
        subscription = await follow_interval(tools.db, tools.rules, user.id, subscription, now)
    return Subscribed(subscription, subscription.last_fetched_at is not None)


async def _subscription_at(tools: Tools, user: User, place: Place) -> Subscription:
    feed = None if place.feed_id else await feed_of_url(tools.db, place.url)
    feed_id = feed.id if feed else place.feed_id or 0
    mine = await subscribed_to(tools.db, user.id, [feed_id])
    subscription = await subscription_of(tools.db, user.id, mine.get(feed_id, 0))
    if subscription is None:
        raise NotFound("the subscription was ended again meanwhile")
    return subscription


def _new_feed(wish: Wish, url: str, found: FeedHere | None) -> NewFeed:
    """The feed as its first subscriber wants it."""
    seconds = wish.choice.interval_seconds
    return NewFeed(
        url, found.title if found else None, for_subscribers=True, http_options=wish.http_options,
        interval=None if seconds is None else timedelta(seconds=seconds),
        archive_policy=ArchivePolicy(wish.choice.archive_policy or ArchivePolicy.ALL),
    )  # fmt: skip


def _read(url: str) -> Address:
    try:
        return read_address(url)
    except BadAddress as error:
        raise NotSubscribable("bad_address", str(error)) from error
