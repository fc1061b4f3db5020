"""Settings of a subscription: some in their own columns, the others as JSON."""

from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.store.subscriptions.feed_settings import (
    decode_settings,
    encode_settings,
    settings_columns,
    steps_to_change_settings,
)

CHOSEN = FeedSettings(title="News", interval_seconds=3600, paused=True, retention_days=30, label_ids=(1, 2))


def test_a_setting_with_a_column_is_not_in_the_json() -> None:
    columns = settings_columns(CHOSEN)

    assert (columns["title"], columns["interval_seconds"], columns["paused"]) == ("News", 3600, 1)
    assert decode_settings(columns["settings"]) == FeedSettings(retention_days=30, label_ids=(1, 2))


def test_defaults_are_not_stored() -> None:
    assert encode_settings(DEFAULT_FEED_SETTINGS) is None
    assert encode_settings(FeedSettings(title="News", paused=True)) is None


def test_a_change_of_a_column_does_not_write_the_json_that_another_request_may_change() -> None:
    before = FeedSettings(title="News", retention_days=30)

    renamed = steps_to_change_settings(1, 2, before, FeedSettings(title="Other", retention_days=30))
    kept_longer = steps_to_change_settings(1, 2, before, FeedSettings(title="News", retention_days=90))

    assert len(renamed) == 1
    assert len(kept_longer) == 2
