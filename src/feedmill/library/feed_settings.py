"""What a person wants done with the entries of a feed, checked before it is kept."""

from feedmill.errors import BadInput, NotFound
from feedmill.library.rules import read_rules
from feedmill.library.selectors import read_selector
from feedmill.model.feed_settings import LEAST_DAYS, MOST_DAYS, NO_SETTINGS, FeedSettings
from feedmill.store.database import Database
from feedmill.store.labels import has_labels

MOST_LABELS = 20


async def check_settings(db: Database, user_id: int, settings: FeedSettings) -> None:
    """Raises a `BadInput` that names the field, or `NotFound` for labels that are not the user's."""
    if settings == NO_SETTINGS:
        return
    days = settings.retention_days
    if days is not None and not LEAST_DAYS <= days <= MOST_DAYS:
        raise BadInput(f"entries are kept for {LEAST_DAYS} to {MOST_DAYS} days", "retention_days")
    read_selector(settings.keep_selector, "keep_selector")
    read_selector(settings.drop_selector, "drop_selector")
    read_rules(settings.block_rules, settings.keep_rules)
    if len(settings.label_ids) > MOST_LABELS:
        raise BadInput(f"new entries get at most {MOST_LABELS} labels", "label_ids")
    if settings.label_ids and not await has_labels(db, user_id, settings.label_ids):
        raise NotFound("there is no such label")
