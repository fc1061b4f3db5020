"""Imports an OPML file: plans first, then writes subscriptions in chunks.

Each chunk is one batch, and existing subscriptions are left out of the plan. So an import that was killed can be run
again and continues where it stopped.
"""

import asyncio
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from math import inf
from typing import Any

import msgspec

from feedmill.collect.first_fetch import HEAD_START
from feedmill.collect.refresh import RefreshTools
from feedmill.encryption import Encryption
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message, message_to_stored
from feedmill.library.feeds.private_feeds import find_feed_targets
from feedmill.library.filters.filter_new_subscription import add_filtered_subscriptions
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.subscriptions.folders import FolderPath, clip_path, ensure_folders
from feedmill.library.subscriptions.opml import OpmlDocument, OpmlError, read_opml
from feedmill.library.users.limits import check_byte_quota
from feedmill.model.batch import IMPORT
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.user import User
from feedmill.outbound.encrypted_options import encrypt_options
from feedmill.outbound.user_urls import BadUrl, parse_user_url
from feedmill.store.chunks import chunked
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import NewFeed
from feedmill.store.feeds.feeds_by_url import feed_ids_by_any_url
from feedmill.store.subscriptions.add_subscriptions import NewSubscription
from feedmill.store.subscriptions.read_subscriptions import count_subscriptions, subscription_ids_by_feed

# A database may take a thousand statements in one batch. A subscription takes up to six, and those of filters.
SUBSCRIPTIONS_AT_ONCE = 100


class BadOpml(BadInput):
    """No feeds can be read from this file."""

    code = "bad_opml"


@dataclass(slots=True)
class FeedToImport:
    """A feed of the file, with all its folders."""

    title: str
    site_url: str | None
    http_options: str | None
    folders: list[FolderPath] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A feed that could not be imported; `line` is None if it is unknown."""

    line: int | None
    message: Message


@dataclass(slots=True)
class ImportPlan:
    """The effect of an import: new feeds, existing feeds, feeds that the user subscribes to, and problems."""

    new: dict[str, FeedToImport] = field(default_factory=dict)
    here: dict[str, FeedToImport] = field(default_factory=dict)
    subscribed: dict[str, FeedToImport] = field(default_factory=dict)
    errors: list[ImportProblem] = field(default_factory=list)
    rows: dict[str, tuple[str, int | None]] = field(default_factory=dict)

    @property
    def added(self) -> dict[str, FeedToImport]:
        return self.new | self.here

    @property
    def folders(self) -> set[FolderPath]:
        return {path for feed in self.added.values() for path in feed.folders}

    def report(self) -> dict[str, Any]:
        """The result, with messages."""
        return {
            "new": len(self.new),
            "known": len(self.here),
            "subscribed": len(self.subscribed),
            "folders": sorted("/".join(path) for path in self.folders),
            "errors": [asdict(error) for error in self.errors],
        }

    def stored_report(self) -> str:
        """The report as it is kept with the job."""
        return msgspec.json.encode(self.report(), enc_hook=message_to_stored).decode()


async def plan_import(db: Database, user: User, opml: bytes) -> ImportPlan:
    """Reads the file and compares it with the database; changes nothing."""
    document = await asyncio.to_thread(read_opml, opml)
    if not document.feeds and document.errors:
        raise BadOpml(_at_line(document.errors[0]))
    plan = ImportPlan(errors=[ImportProblem(error.line, error.message) for error in document.errors])
    # In a thread: a file may have 100,000 URLs.
    to_import = await asyncio.to_thread(_feeds_to_import, document, plan.errors)
    targets = await find_feed_targets(
        db, user.id, {url: each.http_options is not None for url, each in to_import.items()}
    )
    plan.rows = {url: (target.url, target.feed_id) for url, target in targets.items()}
    subscribed = await subscription_ids_by_feed(
        db, user.id, [target.feed_id for target in targets.values() if target.feed_id]
    )
    room = await _feeds_left(db, user)
    for url, each in to_import.items():
        feed_id = targets[url].feed_id
        if feed_id in subscribed:
            plan.subscribed[url] = each
        elif len(plan.new) + len(plan.here) >= room:
            plan.errors.append(ImportProblem(None, Message("opml.beyond_quota", url=url, most=user.quota_feeds or 0)))
        else:
            (plan.new if feed_id is None else plan.here)[url] = each
    return plan


async def run_import(
    tools: RefreshTools, user: User, plan: ImportPlan, head_start: timedelta = HEAD_START
) -> list[int]:
    """Writes the plan. New feeds are due after a delay, so that the import job can fetch them first."""
    db, now = tools.db, tools.clock()
    if plan.added:
        await check_byte_quota(db, user.id)
    folder_ids = await ensure_folders(db, user.id, plan.folders)
    new = [_subscription(tools.encryption, plan.rows[url], feed, folder_ids) for url, feed in plan.added.items()]
    for chunk in chunked(new, SUBSCRIPTIONS_AT_ONCE):
        await add_filtered_subscriptions(db, user.id, chunk, now, now + head_start, tools.later_for)
    return list((await feed_ids_by_any_url(db, [plan.rows[url][0] for url in plan.new])).values())


async def import_and_fetch(work: JobPort, tools: RefreshTools, user: User, plan: ImportPlan) -> int:
    """Writes the plan and starts the job that fetches the new feeds; the id of the job, which keeps the report."""
    feed_ids = await run_import(tools, user, plan)
    job_id, _ = await work.refresh(IMPORT, feed_ids, user.id, report=plan.stored_report())
    return job_id


def _subscription(
    encryption: Encryption, row: tuple[str, int | None], to_import: FeedToImport, folder_ids: dict[FolderPath, int]
) -> NewSubscription:
    url, feed_id = row
    options = encrypt_options(encryption, to_import.http_options)
    title = to_import.title or None
    feed = NewFeed(url, title, site_url=to_import.site_url, http_options=options, for_subscribers=True)
    filed = {folder_ids[clip_path(path)] for path in to_import.folders if clip_path(path) in folder_ids}
    return NewSubscription(feed, feed_id, FeedSettings(title=title), tuple(sorted(filed)))


def _feeds_to_import(document: OpmlDocument, errors: list[ImportProblem]) -> dict[str, FeedToImport]:
    """Each feed once, with all its folders."""
    by_url: dict[str, FeedToImport] = {}
    for feed in document.feeds:
        try:
            address = parse_user_url(feed.url)
        except BadUrl as error:
            errors.append(ImportProblem(None, error.message))
            continue
        each = by_url.setdefault(address.url, FeedToImport(feed.title, feed.site_url, address.http_options))
        if feed.folder:
            each.folders.append(feed.folder)
    return by_url


async def _feeds_left(db: Database, user: User) -> float:
    """How many more feeds the user may have."""
    return inf if user.quota_feeds is None else user.quota_feeds - await count_subscriptions(db, user.id)


def _at_line(error: OpmlError) -> Message:
    return Message("opml.at_line", line=error.line, what=error.message)
