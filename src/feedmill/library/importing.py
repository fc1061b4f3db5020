"""A list of feeds from another reader becomes subscriptions: planned first, then written in lots.

Each lot is one batch, and what is there already is left out of the plan. So an import that was killed can be run
again, and goes on where it stood.
"""

import asyncio
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import Any

from feedmill.collect.address import BadAddress, read_address
from feedmill.collect.first_fetch import HEAD_START
from feedmill.errors import BadInput
from feedmill.library.folders import Path, ensure_folders, shortened
from feedmill.library.limits import check_room
from feedmill.library.opml import OpmlDocument, OpmlError, read_opml
from feedmill.library.privacy import places_of
from feedmill.model.account import User
from feedmill.model.subscription import Choice
from feedmill.store.additions import NewFeed, ids_of_urls, lots
from feedmill.store.database import Database
from feedmill.store.subscribing import NewSubscription, add_subscriptions
from feedmill.store.subscriptions import count_subscriptions, subscribed_to

# A database may take a thousand statements in one batch, and a subscription takes up to six.
SUBSCRIPTIONS_AT_ONCE = 150


class BadOpml(BadInput):
    """Nothing can be taken from this file."""

    code = "bad_opml"


@dataclass(slots=True)
class Wanted:
    """A feed of the list, with every folder that has it."""

    title: str
    site_url: str | None
    http_options: str | None
    folders: list[Path] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Line:
    """One that could not be taken over; `line` is None where the list does not tell."""

    line: int | None
    message: str


@dataclass(slots=True)
class Plan:
    """What an import comes to: feeds that nobody has here, feeds that are here, those the user has, and the rest."""

    new: dict[str, Wanted] = field(default_factory=dict)
    here: dict[str, Wanted] = field(default_factory=dict)
    subscribed: dict[str, Wanted] = field(default_factory=dict)
    errors: list[Line] = field(default_factory=list)
    rows: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    @property
    def added(self) -> dict[str, Wanted]:
        return self.new | self.here

    @property
    def folders(self) -> set[Path]:
        return {path for wanted in self.added.values() for path in wanted.folders}

    def report(self) -> dict[str, Any]:
        """What there is to say of it, as it is kept with the job."""
        return {
            "new": len(self.new),
            "known": len(self.here),
            "subscribed": len(self.subscribed),
            "folders": sorted("/".join(path) for path in self.folders),
            "errors": [asdict(error) for error in self.errors],
        }


async def plan_import(db: Database, user: User, opml: bytes) -> Plan:
    """Reads the list and compares it with what is here; changes nothing."""
    document = await asyncio.to_thread(read_opml, opml)
    if not document.feeds and document.errors:
        raise BadOpml(_told(document.errors[0]))
    plan = Plan(errors=[Line(error.line, error.message) for error in document.errors])
    # In a thread: a list may have 100,000 addresses to read.
    wanted = await asyncio.to_thread(_wanted, document, plan.errors)
    places = await places_of(db, user.id, {url: each.http_options for url, each in wanted.items()})
    plan.rows = {url: (place.url, place.feed_id) for url, place in places.items()}
    mine = await subscribed_to(db, user.id, [place.feed_id for place in places.values() if place.feed_id])
    room = await _room(db, user)
    for url, each in wanted.items():
        feed_id = places[url].feed_id
        if feed_id in mine:
            plan.subscribed[url] = each
        elif len(plan.new) + len(plan.here) >= room:
            plan.errors.append(Line(None, f"{url} was left out: you may have at most {user.quota_feeds} feeds"))
        else:
            (plan.new if feed_id is None else plan.here)[url] = each
    return plan


async def carry_out(
    db: Database, user: User, plan: Plan, now: datetime, head_start: timedelta = HEAD_START
) -> list[int]:
    """Writes the plan; the feeds that are new here, due after the head start of whoever fetches them at once."""
    if plan.added:
        await check_room(db, user.id)
    folder_ids = await ensure_folders(db, user.id, plan.folders)
    new = [_subscription(plan.rows[url], wanted, folder_ids) for url, wanted in plan.added.items()]
    for lot in lots(new, SUBSCRIPTIONS_AT_ONCE):
        await add_subscriptions(db, user.id, lot, now, now + head_start)
    return list((await ids_of_urls(db, [plan.rows[url][0] for url in plan.new])).values())


def _subscription(row: tuple[str, int | None], wanted: Wanted, folder_ids: dict[Path, int]) -> NewSubscription:
    url, feed_id = row
    feed = NewFeed(
        url, wanted.title or None, site_url=wanted.site_url, http_options=wanted.http_options, for_subscribers=True
    )
    filed = {folder_ids[shortened(path)] for path in wanted.folders if shortened(path) in folder_ids}
    return NewSubscription(feed, feed_id, Choice(wanted.title or None), tuple(sorted(filed)))


def _wanted(document: OpmlDocument, errors: list[Line]) -> dict[str, Wanted]:
    """Each feed once, with every folder that it is in."""
    wanted: dict[str, Wanted] = {}
    for feed in document.feeds:
        try:
            address = read_address(feed.url)
        except BadAddress as error:
            errors.append(Line(None, str(error)))
            continue
        each = wanted.setdefault(address.url, Wanted(feed.title, feed.site_url, address.http_options))
        if feed.folder:
            each.folders.append(feed.folder)
    return wanted


async def _room(db: Database, user: User) -> float:
    """How many more feeds the user may have."""
    return inf if user.quota_feeds is None else user.quota_feeds - await count_subscriptions(db, user.id)


def _told(error: OpmlError) -> str:
    return f"line {error.line}: {error.message}"
