"""What must hold after a day: nothing lost, nothing doubled, nothing stuck. Also what must hold after loading."""

import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import asyncpg
from feed_profiles import DEAD, NO_VALIDATORS, FeedProfiles
from monitor import claims_sql
from simulated_web import SimulatedWeb

from feedmill.collect.entries.changes import compare_entries, entries_by_identity, identities_to_look_up
from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Database
from feedmill.store.entries.known_entries import find_known_entries
from feedmill.store.search.index_missing_entries import index_missing_entries

SAMPLE = 200
COUNTS = "SELECT feed_id, count(*) AS entries FROM entries WHERE feed_id = ANY($1::bigint[]) GROUP BY feed_id"
FEEDS = "SELECT id, etag, entry_count, last_success_at FROM feeds WHERE id = ANY($1::bigint[])"
WRONG_COUNTS = """
    SELECT count(*) FROM subscriptions s WHERE unread_count <>
        (SELECT count(*) FROM unread u JOIN users o ON o.unread_list_id = u.list_id
         WHERE o.id = s.user_id AND u.subscription_id = s.id)"""
UNREAD_TWICE = "SELECT count(*) - count(DISTINCT (list_id, entry_id)) FROM unread"
AT_ONCE = 5000


@dataclass
class Findings:
    figures: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def expect(self, what: str, found: int, wanted: int) -> None:
        self.figures[what] = found
        if found != wanted:
            self.problems.append(f"{what}: {found}, not {wanted}")


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


async def check_day(
    db: Database, url: str, profiles: FeedProfiles, start: float, recorded: dict[str, int], kills: int
) -> Findings:
    """`start` is when the day began, `recorded` what the workers say that they wrote, `kills` how many were killed."""
    found = Findings()
    one = await asyncpg.connect(url)
    try:
        started = to_iso(datetime.fromtimestamp(start, UTC))
        found.expect("claims that are left", await one.fetchval(claims_sql()), 0)
        lines = await one.fetchval("SELECT count(*) FROM fetch_log WHERE at >= $1", started)
        fetched = sum(recorded.get(kind, 0) for kind in ("updated", "unchanged", "failed"))
        # The last lines of a worker that was killed are in the log, and not in what it reported a second before.
        found.expect("log lines", lines, fetched if not kills or lines < fetched else lines)
        new = await one.fetchval("SELECT coalesce(sum(new_entries), 0) FROM fetch_log WHERE at >= $1", started)
        found.expect("new entries", new, recorded.get("new_entries", 0) if not kills else new)
        found.expect("entries that came as revised", recorded.get("revised", 0), 0)
        await _check_feeds(one, profiles, found)
        found.expect("wrong unread counts", await one.fetchval(WRONG_COUNTS), 0)
        found.expect("entries twice in an unread list", await one.fetchval(UNREAD_TWICE), 0)
    finally:
        await one.close()
    found.expect("entries that search does not find", await index_missing_entries(db), 0)
    return found


async def _check_feeds(one: Any, profiles: FeedProfiles, found: Findings) -> None:
    """Each feed has its entries up to the newest of the response whose ETag is stored, each once."""
    wrong: list[str] = []
    for first in range(1, profiles.feeds + 1, AT_ONCE):
        numbers = list(range(first, min(first + AT_ONCE, profiles.feeds + 1)))
        counts = {row["feed_id"]: row["entries"] for row in await one.fetch(COUNTS, numbers)}
        for row in await one.fetch(FEEDS, numbers):
            feed = profiles.profile(row["id"])
            if feed.answers in (DEAD, NO_VALIDATORS):
                wanted = max(counts.get(feed.number, 0), feed.stored)
            else:
                wanted = int(row["etag"].strip('"').rpartition("-")[2]) + 1
            if not wanted == counts.get(feed.number, 0) == row["entry_count"]:
                wrong.append(f"{feed.number}: {wanted} {counts.get(feed.number)} {row['entry_count']}")
    found.expect("feeds with lost or doubled entries", len(wrong), 0)
    found.problems += wrong[:5]
