"""docs/reference/feed-settings.md: every setting of a feed, from its definition."""

import msgspec

from feedmill.model.feed_settings import FEED_SETTINGS
from feedmill.model.fetch_options import FETCH_OPTIONS
from feedmill.model.setting_definitions import FeedSetting, SettingKind
from reference import MADE, row

INTRODUCTION = """\
Settings that a subscriber chooses for a feed: on the page *Settings* of the feed, or with `PATCH /api/feeds/{subscription_id}`.
There, a setting that is stored in `subscriptions.settings` is a field of `settings`; the others are fields of the body.
"""
KINDS = {
    SettingKind.FLAG: "true or false",
    SettingKind.NUMBER: "number",
    SettingKind.LINE: "text",
    SettingKind.LINES: "lines of text",
    SettingKind.IDS: "list of ids",
    SettingKind.LOGIN: "name and password",
    SettingKind.HEADERS: "names and values",
}


REQUESTS = """\
## How a feed is requested

A feed with any of these is private to its subscriber. They are stored together and encrypted, in `feeds.http_options`. In
the API they are `http_options`; there `basic_auth` is `login` with `name` and `password`. Secrets are never shown.
"""


def page() -> str:
    head = [row("setting", "kind", "default", "stored in", ""), "|---|---|---|---|---|"]
    lines = [_line(setting) for setting in FEED_SETTINGS.values()]
    options = [row("option", "kind", "default", "secret", ""), "|---|---|---|---|---|"]
    options += [_option(option) for option in FETCH_OPTIONS.values()]
    return "\n".join([f"# Settings of a feed\n\n{MADE}\n\n{INTRODUCTION}", *head, *lines, "", REQUESTS, *options, ""])


def _line(setting: FeedSetting) -> str:
    column = setting.name if setting.options.has_column else "settings"
    stored = f"`subscriptions.{column}`"
    return row(f"`{setting.name}`", _kind(setting), _default(setting), stored, setting.options.about)


def _option(option: FeedSetting) -> str:
    secret = "yes" if option.options.is_secret else ""
    return row(f"`{option.name}`", _kind(option), _default(option), secret, option.options.about)


def _default(setting: FeedSetting) -> str:
    return f"`{msgspec.json.encode(setting.default).decode()}`"


def _kind(setting: FeedSetting) -> str:
    return KINDS[setting.kind] + _limits(setting)


def _limits(setting: FeedSetting) -> str:
    options = setting.options
    if not options.maximum:
        return ""
    if setting.kind is SettingKind.NUMBER:
        return f", {options.minimum} to {options.maximum}"
    return f", at most {options.maximum}" + (
        "" if setting.kind in (SettingKind.IDS, SettingKind.HEADERS) else " characters"
    )
