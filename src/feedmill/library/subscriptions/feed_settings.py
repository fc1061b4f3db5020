"""Validates what a subscriber wants done with the entries of a feed."""

from feedmill.errors import BadInput, NotFound
from feedmill.html.selectors import parse_selector
from feedmill.library.filters.rules import parse_rules
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, MAX_RETENTION_DAYS, MIN_RETENTION_DAYS, FeedSettings
from feedmill.store.database import Database
from feedmill.store.entries.labels import has_labels

MAX_LABELS = 20


async def check_feed_settings(db: Database, user_id: int, settings: FeedSettings) -> None:
    """Raises a `BadInput` that names the field, or `NotFound` for labels that are not the user's."""
    if settings == DEFAULT_FEED_SETTINGS:
        return
    days = settings.retention_days
    if days is not None and not MIN_RETENTION_DAYS <= days <= MAX_RETENTION_DAYS:
        raise BadInput(f"entries are kept for {MIN_RETENTION_DAYS} to {MAX_RETENTION_DAYS} days", "retention_days")
    parse_selector(settings.keep_selector, "keep_selector")
    parse_selector(settings.drop_selector, "drop_selector")
    parse_rules(settings.block_rules, settings.keep_rules)
    if len(settings.label_ids) > MAX_LABELS:
        raise BadInput(f"new entries get at most {MAX_LABELS} labels", "label_ids")
    if settings.label_ids and not await has_labels(db, user_id, settings.label_ids):
        raise NotFound("there is no such label")
