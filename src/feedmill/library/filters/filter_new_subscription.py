"""Applies the filters of a user to the entries that become unread with a new subscription to a known feed.

A feed that is new is not known yet: its first refresh applies them.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from feedmill.errors import ConstraintViolated, StatementRefused
from feedmill.lazy_loggers import get_logger
from feedmill.library.archive.request_images import image_task_steps
from feedmill.library.filters.entry_facts import stored_entry_facts
from feedmill.library.filters.filter_new_entries import size_to_judge
from feedmill.library.filters.filter_plans import plans_of
from feedmill.library.filters.run_filters import FilterMatch, FilterRun, SubscriberFilters, resolve_plan, run_filters
from feedmill.model.feed import ArchivePolicy, Feed
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.store.database import Database, Step
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.filters.active_filters import FilteringSubscriber, SubscriptionNames, filters_version
from feedmill.store.filters.apply_to_stored import StoredMatches, steps_to_apply
from feedmill.store.filters.filter_jobs import steps_to_note_untried
from feedmill.store.filters.filterable_entries import FilterableEntry, newest_filterable_entries
from feedmill.store.subscriptions.add_subscriptions import NewSubscription, add_subscriptions
from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.unread_entries import NEWEST_UNREAD, find_settled_entries

log = get_logger(__name__)

# No scope and no condition names a subscription that is still to be added.
NOT_YET = 0


async def add_filtered_subscriptions(
    db: Database, user_id: int, new: Sequence[NewSubscription], now: datetime, due_at: datetime, later_for: timedelta
) -> None:
    """Adds subscriptions, and applies the user's filters to what becomes unread, in one batch.

    If the database refuses it, the subscriptions are added without filters: no filter keeps a user from a feed.
    """
    version = await filters_version(db, user_id)
    if version is None or not any(one.feed_id for one in new):
        await add_subscriptions(db, user_id, new, now, due_at)
        return
    subscriber = FilteringSubscriber(user_id, NOT_YET, version)
    filtered = [await _filtered(db, subscriber, one, now, later_for) if one.feed_id else one for one in new]
    try:
        await add_subscriptions(db, user_id, filtered, now, due_at)
        return
    except (ConstraintViolated, StatementRefused) as error:
        log.error("subscription_not_filtered", user_id=user_id, exc_info=error)
    await add_subscriptions(db, user_id, new, now, due_at)


async def _filtered(
    db: Database, subscriber: FilteringSubscriber, new: NewSubscription, now: datetime, later_for: timedelta
) -> NewSubscription:
    """The subscription with what filters do. They leave alone what does not become unread."""
    [feed] = await feeds_of_ids(db, [new.feed_id or 0])
    settled = await find_settled_entries(db, subscriber.user_id, feed.id, NEWEST_UNREAD)
    new = replace(new, blocked=(*new.blocked, *settled))
    newest = await newest_filterable_entries(db, feed.id, NEWEST_UNREAD)
    entries = [entry for entry in newest if entry.id not in new.blocked]
    filters = await _filters_for(db, subscriber, new, feed, now)
    run = await run_in_thread_if_large(size_to_judge(entries, [filters]), _match, filters, entries)
    starred = [int(match.key) for match in run.matches if (FilterAction.STAR, 0) in match.changes]
    wants_images = starred and feed.archive_policy is ArchivePolicy.STARRED
    images = await image_task_steps(db, starred, now) if wants_images else []
    applied, untried = _steps_to_apply(run.matches, now, now + later_for), steps_to_note_untried(run.untried, now)
    return replace(new, filter_steps=(*applied, *images, *untried))


async def _filters_for(
    db: Database, subscriber: FilteringSubscriber, new: NewSubscription, feed: Feed, now: datetime
) -> SubscriberFilters:
    [plan] = await plans_of(db, [subscriber])
    by_id = {each.id: each for each in await folders_of(db, subscriber.user_id)} if plan.uses_names else {}
    above: dict[int, str] = {}
    for folder_id in new.folder_ids:
        while folder_id in by_id and folder_id not in above:
            above[folder_id] = by_id[folder_id].name
            folder_id = by_id[folder_id].parent_id
    title = new.settings.title or feed.own_title or feed.title or ""
    names = SubscriptionNames(f"{title} {feed.url}", frozenset(above), tuple(above.values()))
    return resolve_plan(subscriber, plan, names, feed.id, now)


def _match(filters: SubscriberFilters, entries: Sequence[FilterableEntry]) -> FilterRun:
    return run_filters([filters], {str(entry.id): stored_entry_facts(entry) for entry in entries})


def _steps_to_apply(matches: Sequence[FilterMatch], now: datetime, later_until: datetime) -> list[Step]:
    """A filter does different things with different entries: not what one before it did."""
    ids = defaultdict[tuple[int, int, tuple[tuple[FilterAction, int], ...]], list[int]](list)
    for match in matches:
        ids[match.filter.id, match.filter.user_id, match.changes].append(int(match.key))
    return [
        step
        for (filter_id, user_id, changes), entry_ids in ids.items()
        for step in steps_to_apply(StoredMatches(filter_id, user_id, entry_ids), changes, now, later_until)
    ]
