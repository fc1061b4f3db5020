"""The definitions of per-feed settings are complete: whatever is made from them finds what it needs."""

import msgspec
import pytest

from feedmill.i18n.catalogue import catalogue, language_names
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FEED_SETTINGS, JSON_SETTINGS, FeedSettings
from feedmill.model.setting_definitions import FeedSetting, SettingKind
from feedmill.store.schema import subscriptions

EVERY = pytest.mark.parametrize("setting", FEED_SETTINGS.values(), ids=lambda setting: setting.name)
# The form has places of their own for these.
OWN_WORDS = {"retention_days"}


def test_every_field_is_a_setting() -> None:
    assert tuple(FEED_SETTINGS) == FeedSettings.__struct_fields__


@EVERY
def test_a_setting_says_what_it_is_for_and_has_a_kind(setting: FeedSetting) -> None:
    assert setting.options.about.endswith(".")
    assert setting.kind in SettingKind
    assert setting.default == getattr(DEFAULT_FEED_SETTINGS, setting.name)


@EVERY
def test_a_setting_is_stored_in_a_column_of_its_own_or_shares_one(setting: FeedSetting) -> None:
    assert setting.options.has_column == (setting.name in subscriptions.c)


@pytest.mark.parametrize("setting", JSON_SETTINGS.values(), ids=lambda setting: setting.name)
def test_a_request_for_a_setting_without_a_column_has_limits(setting: FeedSetting) -> None:
    assert setting.kind is SettingKind.FLAG or setting.options.maximum > 0


@pytest.mark.parametrize("language", language_names())
@EVERY
def test_what_the_form_shows_has_its_words(setting: FeedSetting, language: str) -> None:
    if setting.options.section is None or setting.name in OWN_WORDS:
        return

    words = [f"feed.setting_{setting.name}"]
    if setting.kind is not SettingKind.FLAG:
        words += [f"feed.setting_{setting.name}_hint", f"feed.bad_{setting.name}"]

    assert set(words) <= catalogue(language).keys()


def test_a_setting_that_was_added_later_reads_as_its_default() -> None:
    assert msgspec.json.decode(b'{"full_text":true}', type=FeedSettings) == FeedSettings(full_text=True)
