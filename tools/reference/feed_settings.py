"""docs/reference/feed-settings.md: every setting of a feed, from its definition."""

import msgspec

from feedmill.model.feed_settings import FEED_SETTINGS, FeedSetting, SettingKind
from reference import MADE, row

INTRODUCTION = """\
What a subscriber chooses for a feed: on the page *Settings* of the feed, or with `PATCH /api/feeds/{subscription_id}`.
There, a setting that is stored in `subscriptions.settings` is a field of `settings`; the others are fields of the body.
"""
KINDS = {
    SettingKind.FLAG: "true or false",
    SettingKind.NUMBER: "number",
    SettingKind.LINE: "text",
    SettingKind.LINES: "lines of text",
    SettingKind.IDS: "list of ids",
}


def page() -> str:
    head = [row("setting", "kind", "default", "stored in", ""), "|---|---|---|---|---|"]
    lines = [_line(setting) for setting in FEED_SETTINGS.values()]
    return "\n".join([f"# Settings of a feed\n\n{MADE}\n\n{INTRODUCTION}", *head, *lines, ""])


def _line(setting: FeedSetting) -> str:
    column = setting.name if setting.options.has_column else "settings"
    default = f"`{msgspec.json.encode(setting.default).decode()}`"
    kind = KINDS[setting.kind] + _limits(setting)
    return row(f"`{setting.name}`", kind, default, f"`subscriptions.{column}`", setting.options.about)


def _limits(setting: FeedSetting) -> str:
    options = setting.options
    if not options.maximum:
        return ""
    if setting.kind is SettingKind.NUMBER:
        return f", {options.minimum} to {options.maximum}"
    return f", at most {options.maximum}" + ("" if setting.kind is SettingKind.IDS else " characters")
