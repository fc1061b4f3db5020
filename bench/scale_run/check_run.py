"""What must hold after a day: nothing lost, nothing doubled, nothing stuck. Also what must hold after loading."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg
from fast_clock import FastClock
from feed_profiles import BIG_HOST, DEAD, NO_VALIDATORS, FeedProfile, FeedProfiles
from load import READER
from monitor import FETCHED, claims_sql
from prepare_day import BeforeDay
from simulated_web import SimulatedWeb

from feedmill.collect.entries.changes import compare_entries, entries_by_identity, identities_to_look_up
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.store.database import Database
from feedmill.store.entries.deferred_entries import POPULAR_ABOVE
from feedmill.store.entries.known_entries import find_known_entries

SAMPLE = 200
WRONG_COUNTS = """
    SELECT count(*) FROM subscriptions s WHERE unread_count <>
        (SELECT count(*) FROM unread u JOIN users o ON o.unread_list_id = u.list_id
         WHERE o.id = s.user_id AND u.subscription_id = s.id)"""
UNREAD_TWICE = "SELECT count(*) - count(DISTINCT (list_id, entry_id)) FROM unread"
LOGGED = "SELECT count(*) AS lines, coalesce(sum(new_entries), 0) AS entries FROM fetch_log WHERE at >= $1"
# Of one feed. The shortest interval is a quarter of an hour, and nothing else that is logged comes sooner.
SOON_AFTER = """
    SELECT count(*) FROM (
        SELECT at, lag(at) OVER (PARTITION BY feed_id ORDER BY at) AS before FROM fetch_log WHERE at >= $1
    ) line WHERE before IS NOT NULL AND CAST(at AS timestamptz) - CAST(before AS timestamptz) < INTERVAL '10 minutes'"""
# All that the feed showed was new, so there may have been more.
OVERFLOWED = "SELECT DISTINCT feed_id FROM fetch_log WHERE at >= $1 AND message LIKE '%\"fetch.overflows\"%'"
NOT_INDEXED = """
    SELECT count(*) FROM entries e WHERE e.id > $1
        AND NOT EXISTS (SELECT 1 FROM search_texts t WHERE t.entry_id = e.id)"""
# Only the one who reads has marked anything as read.
UNREAD = """
    SELECT count(*) AS wanted, count(*) FILTER (WHERE NOT EXISTS (
        SELECT 1 FROM unread n
        WHERE n.list_id = u.unread_list_id AND n.subscription_id = s.id AND n.entry_id = e.id AND n.sort_at = e.sort_at
    )) AS missing
    FROM entries e JOIN subscriptions s ON s.feed_id = e.feed_id JOIN users u ON u.id = s.user_id
    WHERE e.id > $1 AND u.name <> $2 AND NOT EXISTS (SELECT 1 FROM deferred_entries d WHERE d.entry_id = e.id)"""
DEFERRED = f"""
    SELECT count(*) FROM deferred_entries d WHERE d.entry_id > $1
        AND (SELECT count(*) FROM subscriptions s WHERE s.feed_id = d.feed_id) <= {POPULAR_ABOVE}"""
# Ranges of ids, so that an index of the entries is read from its start to its end.
FEEDS = """
    SELECT f.id, f.status, f.etag, f.entry_count, f.next_fetch_at, f.next_fetch_why, f.last_fetched_at,
        f.last_success_at, coalesce(c.entries, 0) AS entries
    FROM feeds f LEFT JOIN (
        SELECT feed_id, count(*) AS entries FROM entries WHERE feed_id BETWEEN $1 AND $2 GROUP BY feed_id
    ) c ON c.feed_id = f.id
    WHERE f.id BETWEEN $1 AND $2"""
AT_ONCE = 5000
# Real seconds from when the simulated server chooses its answer until it is recorded.
LONGEST_ANSWER = 10
SHOWN = 5


@dataclass
class Findings:
    figures: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def expect(self, what: str, found: int, wanted: int) -> None:
        self.figures[what] = found
        if found != wanted:
            self.problems.append(f"{what}: {found}, not {wanted}")

    def report(self) -> None:
        for problem in self.problems:
            print(f"PROBLEM: {problem}", flush=True)


@dataclass(frozen=True)
class PassedDay:
    """A day to check. `recorded` is what the workers say that they wrote, `kills` how many of them were killed."""

    profiles: FeedProfiles
    clock: FastClock
    before: BeforeDay
    recorded: dict[str, int]
    kills: int

    @property
    def start(self) -> str:
        return to_iso(datetime.fromtimestamp(self.clock.start, UTC))


async def check_loaded(db: Database, url: str, profiles: FeedProfiles, web: SimulatedWeb) -> Findings:
    """Whether the product finds in a sample what it would have written: a fetch of the same brings nothing new."""
    found, chance = Findings(), random.Random("sample")
    now = datetime.fromtimestamp(profiles.start, UTC)
    changes: Counter[str] = Counter()
    for number in chance.sample(range(1, profiles.feeds + 1), min(SAMPLE, profiles.feeds)):
        feed = profiles.profile(number)
        offered = entries_by_identity(parse_feed(web.body(feed, feed.stored - 1)))
        known, purged = await find_known_entries(db, number, identities_to_look_up(offered))
        diff = compare_entries(offered, known, purged, now, site_url=None, with_images=True)
        changes += Counter(new=len(diff.new), revised=len(diff.revised), returned=len(diff.returned))
    for kind in ("new", "revised", "returned"):
        found.expect(f"entries of {SAMPLE} feeds that would be {kind}", changes[kind], 0)
    one = await asyncpg.connect(url)
    try:
        missing = (
            "SELECT count(*) FROM entries e WHERE NOT EXISTS (SELECT 1 FROM search_texts t WHERE t.entry_id = e.id)"
        )
        found.expect("entries that search does not find", await one.fetchval(missing), 0)
        counted = await one.fetchval("SELECT count(*) FROM entries")
        found.expect("entries in all", counted, await one.fetchval("SELECT sum(entry_count) FROM feeds"))
        found.expect("wrong unread counts", await one.fetchval(WRONG_COUNTS), 0)
    finally:
        await one.close()
    return found


async def check_day(url: str, day: PassedDay, found: Findings) -> None:
    newest = day.before.newest_entry
    one = await asyncpg.connect(url, server_settings={"work_mem": "128MB", "jit": "off"})
    try:
        found.expect("claims that are left", await one.fetchval(claims_sql()), 0)
        await _check_log(one, day, found)
        await _check_feeds(one, day, found)
        found.expect("wrong unread counts", await one.fetchval(WRONG_COUNTS), 0)
        found.expect("entries twice in an unread list", await one.fetchval(UNREAD_TWICE), 0)
        unread = await one.fetchrow(UNREAD, newest, READER)
        found.figures["new entries for the unread lists of subscribers"] = unread["wanted"]
        found.expect("… that are not in the list", unread["missing"], 0)
        found.expect("entries deferred for feeds of few subscribers", await one.fetchval(DEFERRED, newest), 0)
        found.expect("new entries that search does not find", await one.fetchval(NOT_INDEXED, newest), 0)
    finally:
        await one.close()


async def _check_log(one: Any, day: PassedDay, found: Findings) -> None:
    """The last lines of a worker that was killed are in the log, and not in what it reported a second before."""
    logged = await one.fetchrow(LOGGED, day.start)
    lines, entries = logged["lines"], int(logged["entries"])
    fetched, new = sum(day.recorded.get(kind, 0) for kind in FETCHED), day.recorded.get("new_entries", 0)
    found.expect("log lines", lines, max(fetched, lines) if day.kills else fetched)
    found.expect("new entries", entries, max(new, entries) if day.kills else new)
    found.expect("entries that came as revised", day.recorded.get("revised", 0), 0)
    found.expect("feeds fetched again within ten minutes", await one.fetchval(SOON_AFTER, day.start), 0)


async def _check_feeds(one: Any, day: PassedDay, found: Findings) -> None:
    wrong, unplanned, forgotten, waiting = list[str](), 0, list[str](), 0
    overflowed = {row["feed_id"] for row in await one.fetch(OVERFLOWED, day.start)}
    for first in range(1, day.profiles.feeds + 1, AT_ONCE):
        for row in await one.fetch(FEEDS, first, first + AT_ONCE - 1):
            feed = day.profiles.profile(row["id"])
            if not _has_its_entries(feed, row, day.clock.speed, feed.number in overflowed):
                wrong.append(_as_text(row))
            unplanned += row["next_fetch_at"] is None and row["status"] != "disabled"
            if day.before.is_due[feed.number] and row["last_fetched_at"] < day.start:
                waits = _may_wait(feed, row, day.kills)
                waiting += waits
                forgotten += [] if waits else [_as_text(row)]
    found.expect("feeds with lost or doubled entries", len(wrong), 0)
    # What a killed worker had claimed waits for the end of its lease, which is hours of a fast day.
    overflows = len(overflowed)
    found.expect("feeds that published more than they show between two fetches", overflows, overflows * bool(day.kills))
    found.expect("feeds that are never due again", unplanned, 0)
    found.expect("feeds that were due and not fetched", len(forgotten), 0)
    found.problems += [*wrong[:SHOWN], *forgotten[:SHOWN]]
    found.figures["feeds that wait for a busy host until the next day"] = waiting


def _may_wait(feed: FeedProfile, row: Any, kills: int) -> bool:
    """Whether its host may have been busy until the end: the crowded one, or one whose turn a killed worker held.

    Such a turn ends after 40 real seconds, which are hours of a fast day.
    """
    return feed.host == BIG_HOST or (kills > 0 and "schedule.host_busy" in (row["next_fetch_why"] or ""))


def _has_its_entries(feed: FeedProfile, row: Any, speed: float, overflowed: bool) -> bool:
    """Whether it has what it had published when it was fetched last, each entry once.

    The answer is chosen a little before it is recorded, so the time of the fetch tells the newest entry but for those
    published meanwhile. The ETag tells it exactly, but a feed whose ETag is stale has lost entries all the same. What a
    feed no longer showed is lost to everybody.
    """
    entries = row["entries"]
    if row["entry_count"] != entries:
        return False
    if feed.answers == DEAD:
        return bool(entries == feed.stored)
    fetched_at = from_iso(row["last_success_at"]).timestamp()
    if overflowed:
        return bool(feed.stored <= entries <= feed.newest_at(fetched_at) + 1)
    fewest, most = (feed.newest_at(at) + 1 for at in (fetched_at - LONGEST_ANSWER * speed, fetched_at))
    is_newest = feed.answers == NO_VALIDATORS or _newest_of_etag(row["etag"]) + 1 == entries
    return bool(is_newest and fewest <= entries <= most)


def _as_text(row: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in row.items())


def _newest_of_etag(etag: str | None) -> int:
    return int(etag.strip('"').rpartition("-")[2]) if etag else -1
