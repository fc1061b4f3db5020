"""Reads and validates what a subscriber chooses for a feed."""

from typing import Any

from feedmill.errors import BadInput, NotFound
from feedmill.html.selectors import parse_selector
from feedmill.i18n.messages import Message
from feedmill.library.filters.rules import parse_rules
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, JSON_SETTINGS, FeedSettings
from feedmill.model.setting_definitions import FeedSetting, SettingKind
from feedmill.model.subscription import Subscription
from feedmill.store.database import Database
from feedmill.store.entries.labels import has_labels
from feedmill.store.subscriptions.feed_settings import subscription_settings


async def settings_of_subscription(db: Database, user_id: int, subscription: Subscription) -> FeedSettings:
    """What the user chose for the feed."""
    return await subscription_settings(db, user_id, subscription.id)


async def check_feed_settings(db: Database, user_id: int, settings: FeedSettings) -> None:
    """Raises a `BadInput` that names the field, or `NotFound` for labels that are not the user's."""
    if settings == DEFAULT_FEED_SETTINGS:
        return
    parse_selector(settings.keep_selector, "keep_selector")
    parse_selector(settings.drop_selector, "drop_selector")
    parse_rules(settings.block_rules, settings.keep_rules)
    for setting in JSON_SETTINGS.values():
        _check_limits(setting, getattr(settings, setting.name))
    if settings.label_ids and not await has_labels(db, user_id, settings.label_ids):
        raise NotFound(Message("error.no_such_label"))


def _check_limits(setting: FeedSetting, value: Any) -> None:
    limits = setting.options
    if setting.kind is SettingKind.NUMBER:
        if value is not None and not limits.minimum <= value <= limits.maximum:
            least, most = limits.minimum, limits.maximum
            raise BadInput(
                Message("error.setting_out_of_range", name=setting.name, least=least, most=most), setting.name
            )
    elif setting.kind is not SettingKind.FLAG and len(value) > limits.maximum:
        raise BadInput(Message("error.setting_too_long", name=setting.name, most=limits.maximum), setting.name)
