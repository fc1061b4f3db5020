"""What a subscriber chooses for a feed. A field of `FeedSettings` is a setting, and is defined nowhere else.

From these fields are made what the database stores (`store/subscriptions/feed_settings.py`), the requests and responses
of the API (`serve/rest/feeds/settings_schemas.py`), the fields of the form (`serve/web/feeds/setting_fields.py`) and
`docs/reference/feed-settings.md`. How a feed is requested (login, cookie, proxy) is stored with the feed and
defined in `model/fetch_options.py`.
"""

from hashlib import blake2b
from typing import Annotated

from msgspec import Struct

from feedmill.model.setting_definitions import NEW_ENTRIES, SELECTORS, SettingOptions, define_settings

MIN_RETENTION_DAYS, MAX_RETENTION_DAYS = 1, 36_500
MAX_RULES_LENGTH = 4000
MAX_SELECTOR_LENGTH = 500
MAX_LABELS = 20

_RULES = "Searches, one per line: words, phrases, `in:title`, `author:`, `inurl:`, `site:`, -, OR, ( )."
_CSS = "CSS: tags, `.class`, `#id`, `[name=value]`, a space, `>` and commas."


class FeedSettings(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """None leaves a choice to us. Rules are searches, one a line; selectors are CSS.

    A new entry that a rule blocks is kept, but it is never unread; `label_ids` are put on those that are not blocked.
    """

    title: Annotated[str | None, SettingOptions("Your title for the feed.", has_column=True)] = None
    interval_seconds: Annotated[
        int | None, SettingOptions("Seconds between two fetches; null is automatic.", has_column=True)
    ] = None
    archive_policy: Annotated[
        str | None, SettingOptions("Which images are archived; null is all.", has_column=True)
    ] = None
    paused: Annotated[bool, SettingOptions("The feed is not fetched for you.", has_column=True)] = False
    retention_days: Annotated[
        int | None,
        SettingOptions(
            "Days for which entries are kept; the most of all subscribers counts. null: as the setting retention_days.",
            NEW_ENTRIES,
            minimum=MIN_RETENTION_DAYS,
            maximum=MAX_RETENTION_DAYS,
        ),
    ] = None
    full_text: Annotated[bool, SettingOptions("Fetch the full text of each new entry.", NEW_ENTRIES)] = False
    same_story_once: Annotated[
        bool,
        SettingOptions(
            "Show an article that other feeds have too once, and read it once.", NEW_ENTRIES, has_column=True
        ),
    ] = True
    keep_selector: Annotated[
        str, SettingOptions(f"The part of a page that is the article. {_CSS}", SELECTORS, maximum=MAX_SELECTOR_LENGTH)
    ] = ""
    drop_selector: Annotated[
        str, SettingOptions(f"Parts of the page to leave out. {_CSS}", SELECTORS, maximum=MAX_SELECTOR_LENGTH)
    ] = ""
    block_rules: Annotated[
        str,
        SettingOptions(
            f"Entries that match one of these are blocked. {_RULES}", maximum=MAX_RULES_LENGTH, has_lines=True
        ),
    ] = ""
    keep_rules: Annotated[
        str,
        SettingOptions(
            f"If there are any, entries that match none of these are blocked. {_RULES}",
            maximum=MAX_RULES_LENGTH,
            has_lines=True,
        ),
    ] = ""
    label_ids: Annotated[tuple[int, ...], SettingOptions("Labels for new entries.", maximum=MAX_LABELS)] = ()
    notify: Annotated[bool, SettingOptions("Whether webhooks are notified about this feed.", NEW_ENTRIES)] = True

    @property
    def has_rules(self) -> bool:
        return bool(self.block_rules or self.keep_rules)

    @property
    def selector_digest(self) -> str:
        """Identifies the selectors; subscribers with the same selectors share the stored full text."""
        if not self.keep_selector and not self.drop_selector:
            return ""
        return blake2b(f"{self.keep_selector}\n{self.drop_selector}".encode(), digest_size=16).hexdigest()


DEFAULT_FEED_SETTINGS = FeedSettings()


FEED_SETTINGS = define_settings(DEFAULT_FEED_SETTINGS)
COLUMN_SETTINGS = tuple(name for name, setting in FEED_SETTINGS.items() if setting.options.has_column)
# Those that share a column; the API has them as `settings`.
JSON_SETTINGS = {name: setting for name, setting in FEED_SETTINGS.items() if not setting.options.has_column}
