"""Discovers the feeds at a pasted URL for the subscribe page, and marks those already subscribed."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request

from feedmill.collect.discovery.candidates import FeedCandidate
from feedmill.collect.discovery.request_log import DiscoveryStep, ignore_step
from feedmill.collect.discovery.response_cache import ResponseCache
from feedmill.errors import CallerError
from feedmill.library.subscriptions.errors import NotSubscribable
from feedmill.library.subscriptions.lookup import subscription_ids_by_url
from feedmill.library.subscriptions.subscribe import discover
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.subscriptions.subscribe_problems import SubscribeProblem, subscribe_problem, tried_urls
from feedmill.store.database import Database

MAX_URL_LENGTH = 4096

FEED_TYPE_NAMES = {
    "rss": "RSS",
    "atom": "Atom",
    "jsonfeed": "JSON Feed",
    "application/rss+xml": "RSS",
    "application/atom+xml": "Atom",
    "application/feed+json": "JSON Feed",
}

_VERSIONED = re.compile(r"(rss|atom|jsonfeed)([0-9])([0-9]*)")
_IN_TEXT = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class FeedOffer:
    """A feed to choose from; `subscription_id` is set if the user already subscribes to it."""

    candidate: FeedCandidate
    subscription_id: int | None = None

    @property
    def type(self) -> str:
        """`RSS 2.0`, `Atom 1.0`; for a feed that was not fetched, the type that the page gives."""
        kind = self.candidate.type or ""
        versioned = _VERSIONED.fullmatch(kind)
        if versioned is None:
            return FEED_TYPE_NAMES.get(kind, kind)
        name, major, minor = versioned.groups()
        return f"{FEED_TYPE_NAMES[name]} {major}.{minor}" if minor else f"{FEED_TYPE_NAMES[name]} {major}"


@dataclass(frozen=True, slots=True)
class DiscoveryView:
    url: str
    offers: list[FeedOffer] = field(default_factory=list)
    tried: list[DiscoveryStep] = field(default_factory=list)
    problem: SubscribeProblem | None = None

    @property
    def preferred(self) -> FeedOffer | None:
        """The likeliest feed that the user does not subscribe to yet."""
        return next((offer for offer in self.offers if offer.subscription_id is None), None)


def the_discovery_cache(request: Request) -> ResponseCache:
    discovery_cache: ResponseCache = request.app.state.discovery_cache
    return discovery_cache


def url_in_text(url: str, text: str = "") -> str:
    """The URL in a pasted or shared text: some programs add text around it."""
    found = None if url.strip() else _IN_TEXT.search(text)
    return (found[0] if found else url or text).strip()[:MAX_URL_LENGTH]


async def discover_at(
    request: Request,
    user: User,
    url: str,
    options: str | None = None,
    on_step: Callable[[DiscoveryStep], None] = ignore_step,
) -> DiscoveryView:
    """The feeds at the URL, or why there are none; raises only errors that are not about the URL."""
    app = the_app(request)
    try:
        seen = await discover(app.tools, user, url, the_discovery_cache(request), options, on_step)
    except NotSubscribable as error:
        return DiscoveryView(url, problem=subscribe_problem(error, url), tried=list(tried_urls(error)))
    if seen.problem:
        return DiscoveryView(url, tried=seen.tried, problem=subscribe_problem(seen.problem, url))
    subscription_ids = await _subscribed_by_url(app.db, user.id, [each.url for each in seen.candidates], options)
    return DiscoveryView(url, [FeedOffer(each, subscription_ids.get(each.url)) for each in seen.candidates], seen.tried)


async def _subscribed_by_url(db: Database, user_id: int, urls: list[str], options: str | None) -> dict[str, int]:
    """The user's subscriptions by the URL of their feed."""
    try:
        return await subscription_ids_by_url(db, user_id, urls, has_login=options is not None)
    except CallerError:
        return {}
