"""Schemas of a feed's settings and filter rules, and of the filter preview."""

from typing import Annotated, Any

from msgspec import structs
from pydantic import BaseModel, Field, StringConstraints

from feedmill.html import selectors
from feedmill.library.filters import rules
from feedmill.library.filters.new_entries import PreviewedEntry
from feedmill.library.subscriptions.feed_settings import MAX_LABELS
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, MAX_RETENTION_DAYS, MIN_RETENTION_DAYS, FeedSettings
from feedmill.serve.rest.core.fields import Id, RequestBody, StrictBool, StrictInt

RulesText = Annotated[
    str,
    StringConstraints(max_length=rules.LONGEST, pattern=r"^[^\x00]*$"),
    Field(description="Searches, one a line: words, phrases, `in:title`, `author:`, `inurl:`, `site:`, -, OR, ( )."),
]
SelectorText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, max_length=selectors.MAX_SELECTOR_LENGTH, pattern=r"^[^\x00-\x1f\x7f]*$"),
    Field(description="CSS: tags, `.class`, `#id`, `[name=value]`, a space, `>` and commas."),
]
RetentionDays = Annotated[StrictInt, Field(ge=MIN_RETENTION_DAYS, le=MAX_RETENTION_DAYS)]


class FilterRulesRequest(RequestBody):
    """What a block rule finds, and what none of the keep rules finds if there are any, is never unread."""

    block_rules: RulesText | None = None
    keep_rules: RulesText | None = None


class FeedSettingsChanges(FilterRulesRequest):
    """What is left out stays as it is; null takes back what was chosen."""

    retention_days: RetentionDays | None = Field(
        default=None, description="Of all subscribers the longest counts; null is what the operator keeps."
    )
    full_text: StrictBool | None = Field(default=None, description="Fetch the whole article of each new entry.")
    keep_selector: SelectorText | None = Field(default=None, description="What of a page the article is.")
    drop_selector: SelectorText | None = Field(default=None, description="What is never a part of it.")
    label_ids: list[Id] | None = Field(default=None, max_length=MAX_LABELS, description="For new entries.")
    notify: StrictBool | None = Field(default=None, description="Whether webhooks are told of this feed.")

    def changes(self) -> dict[str, Any]:
        """What was said, as the values of `FeedSettings`."""
        given = self.model_dump(exclude_unset=True)
        said = {name: getattr(DEFAULT_FEED_SETTINGS, name) if value is None else value for name, value in given.items()}
        return said | ({"label_ids": tuple(sorted(set(said["label_ids"])))} if "label_ids" in said else {})

    def settings(self) -> FeedSettings:
        return FeedSettings(**self.changes())


class FeedSettingsResponse(BaseModel):
    retention_days: int | None
    full_text: bool
    keep_selector: str
    drop_selector: str
    block_rules: str
    keep_rules: str
    label_ids: list[int]
    notify: bool

    @classmethod
    def of(cls, settings: FeedSettings) -> "FeedSettingsResponse":
        return cls(**structs.asdict(settings))


class FilterPreviewEntryResponse(BaseModel):
    """An entry that is there. `rule` is the line that decided, null when there was none."""

    entry_id: int
    title: str | None
    is_blocked: bool
    rule: str | None

    @classmethod
    def of(cls, found: PreviewedEntry) -> "FilterPreviewEntryResponse":
        entry, verdict = found.entry, found.verdict
        return cls(entry_id=entry.id, title=entry.title, is_blocked=verdict.is_blocked, rule=verdict.line or None)


class FilterPreviewResponse(BaseModel):
    """The newest entries of the feed."""

    items: list[FilterPreviewEntryResponse]
    blocked: int

    @classmethod
    def of(cls, found: list[PreviewedEntry]) -> "FilterPreviewResponse":
        blocked = sum(each.verdict.is_blocked for each in found)
        return cls(items=[FilterPreviewEntryResponse.of(each) for each in found], blocked=blocked)
