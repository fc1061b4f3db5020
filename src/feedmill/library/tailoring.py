"""What the subscribers of a feed want done with its new entries, in the batch of the refresh that brings them.

Blocked entries are kept like all others; they only never become unread for who blocks them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from feedmill.library.rules import Rules, Verdict, judge, judge_words, kept_rules, read_rules, words_to_judge
from feedmill.model.feed import Claim
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import Decision, NewEntry, Updated
from feedmill.store.database import Database, Step
from feedmill.store.feed_settings import Wanted, wanted_of
from feedmill.store.sifting import Tried, block, label, newest_to_try, want_whole
from feedmill.store.unread import NEWEST

PREVIEWED = 50

# By subscription, the guids of what its rules block.
Blocked = dict[int, frozenset[str]]
NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Previewed:
    """An entry that is there, and what the rules would have done with it."""

    entry: Tried
    verdict: Verdict


async def tailor(db: Database, claim: Claim, decision: Decision) -> Sequence[Step]:
    """The steps with which a refresh's new entries are blocked, labelled and wanted whole; none for most feeds."""
    if not claim.feed.tailored or not isinstance(decision, Updated) or not decision.changes.new:
        return ()
    wanted, new = await wanted_of(db, claim.feed.id), decision.changes.new
    # In a thread: reading the words of many entries takes long.
    blocked = await asyncio.to_thread(blocked_for, wanted, new)
    return [*_steps(claim.feed.id, wanted, new, blocked), *_whole(claim.feed.id, wanted, blocked, decision)]


def blocked_for(wanted: Sequence[Wanted], new: Sequence[NewEntry]) -> Blocked:
    """What the rules of each of these block."""
    ruled = {one.subscription_id: kept_rules(one.settings) for one in wanted if one.settings.has_rules}
    said = {entry.guid: words_to_judge(entry) for entry in new} if ruled else {}
    return {
        subscription_id: frozenset(guid for guid, words in said.items() if judge_words(rules, words).is_blocked)
        for subscription_id, rules in ruled.items()
    }


def _steps(feed_id: int, wanted: Sequence[Wanted], new: Sequence[NewEntry], blocked: Blocked) -> list[Step]:
    steps: list[Step] = []
    for one in wanted:
        out = blocked.get(one.subscription_id, NONE)
        left = [entry.guid for entry in new if entry.guid not in out]
        steps += block(one.subscription_id, feed_id, sorted(out))
        steps += label(one.user_id, one.settings.label_ids, feed_id, left)
    return steps


def _whole(feed_id: int, wanted: Sequence[Wanted], blocked: Blocked, decision: Updated) -> list[Step]:
    """Articles are fetched that at least one subscriber who wants them whole does not block."""
    outs = [blocked.get(one.subscription_id, NONE) for one in wanted if one.settings.full_text]
    guids = [entry.guid for entry in decision.changes.new if any(entry.guid not in out for out in outs)]
    return want_whole(feed_id, guids, decision.visit.at)


async def preview(db: Database, feed_id: int, block_rules: str, keep_rules: str) -> list[Previewed]:
    """What these rules would have done with the feed's newest entries; raises `BadRule`."""
    rules = read_rules(block_rules, keep_rules)
    tried = await newest_to_try(db, feed_id, PREVIEWED)
    return await asyncio.to_thread(_previewed, rules, tried)


async def blocked_of_newest(db: Database, feed_id: int, settings: FeedSettings) -> tuple[int, ...]:
    """Which of the entries that become unread for a new subscriber are blocked by their rules."""
    if not settings.has_rules:
        return ()
    tried = await newest_to_try(db, feed_id, NEWEST)
    found = await asyncio.to_thread(_previewed, kept_rules(settings), tried)
    return tuple(each.entry.id for each in found if each.verdict.is_blocked)


def _previewed(rules: Rules, tried: Sequence[Tried]) -> list[Previewed]:
    return [Previewed(entry, judge(rules, entry)) for entry in tried]
