"""Applies the rules and filters of subscribers to the new entries of a refresh, in its atomic write.

Blocked entries are stored like all others; they only do not become unread for the subscriber who blocks them.
"""

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from feedmill.collect.entries.changes import MAX_IMAGES
from feedmill.html.images import find_image_urls
from feedmill.lazy_loggers import get_logger
from feedmill.library.entries.marks import LATER_FOR
from feedmill.library.filters.entry_facts import EntryFacts
from feedmill.library.filters.filter_plans import plans_of
from feedmill.library.filters.rules import FilterRules, Verdict, judge_entry, judge_facts, parse_rules, stored_rules
from feedmill.library.filters.run_filters import FilterMatch, SubscriberFilters, resolve_plan, run_filters
from feedmill.library.stories.place_new_entries import find_repeats
from feedmill.model.feed import ArchivePolicy, Claim, Feed
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.model.refresh import NewEntry, RefreshDecision, Updated
from feedmill.model.subscription import Subscription
from feedmill.model.timestamps import to_iso
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.entries.add_entries import steps_to_add_images
from feedmill.store.entries.fill_deferred_entries import steps_to_fill_subscriptions
from feedmill.store.entries.full_texts import steps_to_queue_full_texts
from feedmill.store.filters.active_filters import NO_NAMES, filtering_subscribers, names_of_subscriptions
from feedmill.store.filters.apply_filters import LabelledEntry, steps_to_block_entries, steps_to_label_entries
from feedmill.store.filters.filter_jobs import steps_to_note_untried
from feedmill.store.filters.preview_samples import FilterSample, newest_filter_samples
from feedmill.store.filters.record_matches import MatchedFilter, steps_to_record_matches
from feedmill.store.search.index import SearchableEntry, text_size
from feedmill.store.subscriptions.feed_settings import SubscriberSettings, settings_of_subscribers
from feedmill.store.subscriptions.unread_entries import NEWEST_UNREAD

log = get_logger(__name__)

PREVIEWED = 50

NOT_UNREAD = (FilterAction.READ, FilterAction.HIDE)

# By subscription, the guids of what its rules block.
BlockedGuids = dict[int, frozenset[str]]
NO_GUIDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Judgement:
    """What rules block of the new entries of a refresh and filters matched; and how many entries filters left out.

    They are left out by a filter, by its id, because the time for regular expressions was up.
    """

    blocked: BlockedGuids = field(default_factory=dict)
    matched: Sequence[MatchedFilter] = ()
    untried: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PreviewedEntry:
    """An existing entry, and what the rules would have done with it."""

    entry: FilterSample
    verdict: Verdict


async def filter_writes(
    db: Database,
    claim: Claim,
    decision: RefreshDecision,
    /,
    later_for: timedelta = LATER_FOR,
    clock: Callable[[], float] = time.monotonic,
) -> Sequence[Step]:
    """The steps that apply the rules, labels and filters of subscribers to the new entries of a refresh.

    None for most feeds, and if judging fails: no filter of a user stops a feed. Filters leave alone what the rules of
    the feed block. Both leave alone what the feed only repeats under other guids: they acted on it when it came first.
    `clock` measures regular expressions, in seconds.
    """
    if not isinstance(decision, Updated) or not decision.changes.new:
        return ()
    feed, now = claim.feed, decision.stats.at
    subscribers = await settings_of_subscribers(db, feed.id) if feed.has_entry_settings else []
    filters = await filters_of_subscribers(db, feed.id, now)
    if not subscribers and not filters:
        return ()
    repeated = await find_repeats(db, feed.id, decision.changes, now)
    new = [entry for entry in decision.changes.new if entry.guid not in repeated]
    try:
        size = size_to_judge(new, filters)
        judged = await run_in_thread_if_large(size, _judge, feed.id, decision, new, subscribers, filters, clock)
    except Exception as error:  # Whatever it is: the entries are stored without it.
        log.error("filters_not_applied", feed_id=feed.id, feed_url=feed.url, exc_info=error)
        return ()
    if judged.untried:
        log.warning("filter_regexes_too_slow", feed_id=feed.id, feed_url=feed.url, filter_ids=sorted(judged.untried))
    blocked, matched = judged.blocked, judged.matched
    return [
        *(steps_to_fill_subscriptions(feed.id, _hiding(blocked, matched)) if decision.defers_unread else ()),
        *_rule_steps(feed.id, subscribers, new, blocked),
        *_full_text_steps(feed.id, subscribers, blocked, decision),
        *steps_to_record_matches(feed.id, claim.token, matched, now, now + later_for),
        *_image_steps(feed, decision, matched),
        *steps_to_note_untried(judged.untried, now),
    ]


def size_to_judge(entries: Iterable[SearchableEntry], filters: Sequence[SubscriberFilters]) -> int:
    """The length of a text that takes as long to split into words.

    Filters that no word rules out take as long for a short text as few do for a long one, and an expression may take as
    long as splitting does.
    """
    wordless = sum(len(each.plan.without_words) for each in filters)
    regexes = sum(len(each.plan.regexes) for each in filters)
    return text_size(entries) * (1 + wordless // 10 + regexes)


def _hiding(blocked: BlockedGuids, matched: Sequence[MatchedFilter]) -> set[int]:
    """The subscriptions that have some of the new entries not unread."""
    changing = {each.subscription_id for each in matched if any(action in NOT_UNREAD for action, _ in each.changes)}
    return changing | {subscription_id for subscription_id, guids in blocked.items() if guids}


async def filters_of_subscribers(db: Database, feed_id: int, now: datetime) -> list[SubscriberFilters]:
    """The filters of those subscribers who have any."""
    subscribers = await filtering_subscribers(db, feed_id)
    plans = await plans_of(db, subscribers) if subscribers else []
    named = [each for each, plan in zip(subscribers, plans, strict=True) if plan.uses_names]
    names = await names_of_subscriptions(db, named) if named else {}
    return [
        resolve_plan(each, plan, names.get(each.subscription_id, NO_NAMES), feed_id, now)
        for each, plan in zip(subscribers, plans, strict=True)
        if plan.filters
    ]


def _judge(
    feed_id: int,
    decision: Updated,
    new: Sequence[NewEntry],
    subscribers: Sequence[SubscriberSettings],
    filters: Sequence[SubscriberFilters],
    clock: Callable[[], float],
) -> Judgement:
    entries = {entry.guid: _facts(feed_id, decision, entry) for entry in new}
    blocked = blocked_guids(subscribers, entries)
    if filters:
        # The index needs them too, and tokenizing takes the longest.
        decision.changes.words.update({guid: facts.indexed for guid, facts in entries.items()})
    run = run_filters(filters, entries, clock)
    matches = [match for match in run.matches if match.key not in blocked.get(match.subscription_id, NO_GUIDS)]
    return Judgement(blocked, matched_filters(matches), run.untried)


def _facts(feed_id: int, decision: Updated, entry: NewEntry) -> EntryFacts:
    return EntryFacts(
        entry,
        feed_id,
        entry.sort_at,
        entry.language or decision.metadata.language,
        bool(entry.image_url or entry.images),
        entry.enclosures,
        decision.changes.words.get(entry.guid),
    )


def matched_filters(matches: Sequence[FilterMatch]) -> list[MatchedFilter]:
    """The matches by filter."""
    by_filter: dict[int, list[FilterMatch]] = {}
    for match in matches:
        by_filter.setdefault(match.filter.id, []).append(match)
    return [_matched_filter(some) for some in by_filter.values()]


def _matched_filter(matches: Sequence[FilterMatch]) -> MatchedFilter:
    own, changes = matches[0].filter, defaultdict[tuple[FilterAction, int], list[str]](list)
    for match in matches:
        for change in match.changes:
            changes[change].append(match.key)
    return MatchedFilter(own.id, own.user_id, matches[0].subscription_id, [match.key for match in matches], changes)


def blocked_guids(subscribers: Sequence[SubscriberSettings], entries: Mapping[str, EntryFacts]) -> BlockedGuids:
    """By subscription the guids of the new entries that its rules block."""
    rules_by_subscription = {
        one.subscription_id: stored_rules(one.settings) for one in subscribers if one.settings.has_rules
    }
    return {
        subscription_id: frozenset(guid for guid, facts in entries.items() if judge_facts(rules, facts).is_blocked)
        for subscription_id, rules in rules_by_subscription.items()
    }


def _rule_steps(
    feed_id: int, subscribers: Sequence[SubscriberSettings], new: Sequence[NewEntry], blocked: BlockedGuids
) -> list[Step]:
    labelled = [
        LabelledEntry(one.user_id, label_id, entry.guid)
        for one in subscribers
        for label_id in one.settings.label_ids
        for entry in new
        if entry.guid not in blocked.get(one.subscription_id, NO_GUIDS)
    ]
    return [*steps_to_block_entries(feed_id, blocked), *steps_to_label_entries(feed_id, labelled)]


def _full_text_steps(
    feed_id: int, subscribers: Sequence[SubscriberSettings], blocked: BlockedGuids, decision: Updated
) -> list[Step]:
    """Queues the full texts of entries that at least one subscriber with full text does not block."""
    outs = [blocked.get(one.subscription_id, NO_GUIDS) for one in subscribers if one.settings.full_text]
    guids = [entry.guid for entry in decision.changes.new if any(entry.guid not in out for out in outs)]
    return steps_to_queue_full_texts(feed_id, guids, decision.stats.at)


def _image_steps(feed: Feed, decision: Updated, matched: Sequence[MatchedFilter]) -> list[Step]:
    """Queues the images of starred entries, if only those are archived."""
    if feed.archive_policy is not ArchivePolicy.STARRED:
        return []
    starred = {guid for each in matched for guid in each.changes.get((FilterAction.STAR, 0), ())}
    entries = [
        replace(entry, images=tuple(find_image_urls(entry.content_html or "", entry.base_url, MAX_IMAGES)))
        for entry in decision.changes.new
        if entry.guid in starred
    ]
    return steps_to_add_images(feed.id, entries, to_iso(decision.stats.at))


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
