"""What was found at an address that somebody pasted, for the page that adds feeds."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request

from feedmill.errors import CallerError
from feedmill.library.discovery import Answers, Candidate, Tried, tell_nobody
from feedmill.library.privacy import places_of
from feedmill.library.subscribe import discover
from feedmill.library.unfit import NotSubscribable
from feedmill.model.account import User
from feedmill.serve.web.page import the_app
from feedmill.serve.web.troubles import Trouble, tried_of, trouble
from feedmill.store.database import Database
from feedmill.store.subscriptions import subscribed_to

LONGEST_ADDRESS = 4096

TYPES = {
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
class Offer:
    """A feed to choose; `subscription_id` when the person has it already."""

    candidate: Candidate
    subscription_id: int | None = None

    @property
    def type(self) -> str:
        """`RSS 2.0`, `Atom 1.0`; for one that was not looked into what the page says of it."""
        kind = self.candidate.type or ""
        versioned = _VERSIONED.fullmatch(kind)
        if versioned is None:
            return TYPES.get(kind, kind)
        name, first, rest = versioned.groups()
        return f"{TYPES[name]} {first}.{rest}" if rest else f"{TYPES[name]} {first}"


@dataclass(frozen=True, slots=True)
class Found:
    url: str
    offers: list[Offer] = field(default_factory=list)
    tried: list[Tried] = field(default_factory=list)
    trouble: Trouble | None = None

    @property
    def preferred(self) -> Offer | None:
        """The likeliest of those that the person does not have."""
        return next((offer for offer in self.offers if offer.subscription_id is None), None)


def the_answers(request: Request) -> Answers:
    answers: Answers = request.app.state.answers
    return answers


def address_in(url: str, text: str = "") -> str:
    """The address that was pasted or shared: other programs put it into a text."""
    found = None if url.strip() else _IN_TEXT.search(text)
    return (found[0] if found else url or text).strip()[:LONGEST_ADDRESS]


async def find(
    request: Request, user: User, url: str, options: str | None = None, tell: Callable[[Tried], None] = tell_nobody
) -> Found:
    """What is there, or why there is nothing; raises only for what is not about the address."""
    app = the_app(request)
    try:
        seen = await discover(app.tools, user, url, the_answers(request), options, tell)
    except NotSubscribable as error:
        return Found(url, trouble=trouble(error, url), tried=list(tried_of(error)))
    if seen.problem:
        return Found(url, tried=seen.tried, trouble=trouble(seen.problem, url))
    mine = await _had(app.db, user.id, [each.url for each in seen.candidates], options)
    return Found(url, [Offer(each, mine.get(each.url)) for each in seen.candidates], seen.tried)


async def _had(db: Database, user_id: int, urls: list[str], options: str | None) -> dict[str, int]:
    """By address the user's subscription to the feed there."""
    try:
        places = await places_of(db, user_id, dict.fromkeys(urls, options))
    except CallerError:
        return {}
    mine = await subscribed_to(db, user_id, [place.feed_id for place in places.values() if place.feed_id])
    return {url: mine[place.feed_id] for url, place in places.items() if place.feed_id in mine}
