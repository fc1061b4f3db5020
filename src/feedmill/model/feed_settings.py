"""What a subscriber chose for the entries of a feed: retention, full text, filter rules, labels."""

from hashlib import blake2b

from msgspec import Struct

MIN_RETENTION_DAYS, MAX_RETENTION_DAYS = 1, 36_500


class FeedSettings(Struct, frozen=True, omit_defaults=True):
    """`retention_days` None is what the operator keeps. Rules are searches, one a line; selectors are CSS.

    A new entry that a rule blocks is kept, but it is never unread; `label_ids` are put on those that are not blocked.
    """

    retention_days: int | None = None
    full_text: bool = False
    keep_selector: str = ""
    drop_selector: str = ""
    block_rules: str = ""
    keep_rules: str = ""
    label_ids: tuple[int, ...] = ()
    notify: bool = True

    @property
    def has_rules(self) -> bool:
        return bool(self.block_rules or self.keep_rules)

    @property
    def recipe(self) -> str:
        """The name of the way to cut an article out of its page; people who want the same share what is kept."""
        if not self.keep_selector and not self.drop_selector:
            return ""
        return blake2b(f"{self.keep_selector}\n{self.drop_selector}".encode(), digest_size=16).hexdigest()


DEFAULT_FEED_SETTINGS = FeedSettings()
