"""Applies the filters of subscribers to the new entries of a refresh, in its atomic write.

Blocked entries are stored like all others; they only do not become unread for the subscriber who blocks them.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from feedmill.library.filters.entry_facts import EntryFacts
from feedmill.library.filters.rules import FilterRules, Verdict, judge_entry, judge_facts, parse_rules, stored_rules
from feedmill.model.feed import Claim
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.refresh import NewEntry, RefreshDecision, Updated
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database, Step
from feedmill.store.entries.full_texts import steps_to_queue_full_texts
from feedmill.store.filters.apply_filters import steps_to_block_entries, steps_to_label_entries
from feedmill.store.filters.preview_samples import FilterSample, newest_filter_samples
from feedmill.store.subscriptions.feed_settings import SubscriberSettings, settings_of_subscribers
from feedmill.store.subscriptions.unread_entries import NEWEST_UNREAD

PREVIEWED = 50

# By subscription, the guids of what its rules block.
BlockedGuids = dict[int, frozenset[str]]
NO_GUIDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PreviewedEntry:
    """An existing entry, and what the rules would have done with it."""

    entry: FilterSample
    verdict: Verdict


async def filter_writes(db: Database, claim: Claim, decision: RefreshDecision, /) -> Sequence[Step]:
    """The steps that block and label the new entries of a refresh and request full texts; none for most feeds."""
    if not claim.feed.has_entry_settings or not isinstance(decision, Updated) or not decision.changes.new:
        return ()
    subscribers, new = await settings_of_subscribers(db, claim.feed.id), decision.changes.new
    # In a thread: tokenizing many entries takes long.
    blocked = await asyncio.to_thread(blocked_guids, subscribers, new)
    return [
        *_steps(claim.feed.id, subscribers, new, blocked),
        *_full_text_steps(claim.feed.id, subscribers, blocked, decision),
    ]


def blocked_guids(subscribers: Sequence[SubscriberSettings], new: Sequence[NewEntry]) -> BlockedGuids:
    """By subscription the guids of the new entries that its rules block."""
    rules_by_subscription = {
        one.subscription_id: stored_rules(one.settings) for one in subscribers if one.settings.has_rules
    }
    facts_by_guid = {entry.guid: EntryFacts(entry) for entry in new}
    return {
        subscription_id: frozenset(
            guid for guid, facts in facts_by_guid.items() if judge_facts(rules, facts).is_blocked
        )
        for subscription_id, rules in rules_by_subscription.items()
    }


def _steps(
    feed_id: int, subscribers: Sequence[SubscriberSettings], new: Sequence[NewEntry], blocked: BlockedGuids
) -> list[Step]:
    steps: list[Step] = []
    for one in subscribers:
        out = blocked.get(one.subscription_id, NO_GUIDS)
        left = [entry.guid for entry in new if entry.guid not in out]
        steps += steps_to_block_entries(one.subscription_id, feed_id, sorted(out))
        steps += steps_to_label_entries(one.user_id, one.settings.label_ids, feed_id, left)
    return steps


def _full_text_steps(
    feed_id: int, subscribers: Sequence[SubscriberSettings], blocked: BlockedGuids, decision: Updated
) -> list[Step]:
    """Queues the full texts of entries that at least one subscriber with full text does not block."""
    outs = [blocked.get(one.subscription_id, NO_GUIDS) for one in subscribers if one.settings.full_text]
    guids = [entry.guid for entry in decision.changes.new if any(entry.guid not in out for out in outs)]
    return steps_to_queue_full_texts(feed_id, guids, decision.stats.at)


async def preview_filter_rules(
    db: Database, subscription: Subscription, block_rules: str, keep_rules: str
) -> list[PreviewedEntry]:
    """What these rules would have done with the feed's newest entries; raises `BadRule`."""
    rules = parse_rules(block_rules, keep_rules)
    tried = await newest_filter_samples(db, subscription.feed_id, PREVIEWED)
    return await asyncio.to_thread(_previewed, rules, tried)


async def blocked_newest_entries(db: Database, feed_id: int, settings: FeedSettings) -> tuple[int, ...]:
    """Which of the entries that become unread for a new subscriber the subscriber's rules block."""
    if not settings.has_rules:
        return ()
    tried = await newest_filter_samples(db, feed_id, NEWEST_UNREAD)
    found = await asyncio.to_thread(_previewed, stored_rules(settings), tried)
    return tuple(each.entry.id for each in found if each.verdict.is_blocked)


def _previewed(rules: FilterRules, tried: Sequence[FilterSample]) -> list[PreviewedEntry]:
    return [PreviewedEntry(entry, judge_entry(rules, entry)) for entry in tried]
