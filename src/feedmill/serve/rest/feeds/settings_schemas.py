"""Schemas of a feed's settings, made from `model/feed_settings.py`, and of the preview of filter rules."""

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints

from feedmill.library.filters.new_entries import PreviewedEntry
from feedmill.model.feed_settings import (
    DEFAULT_FEED_SETTINGS,
    FEED_SETTINGS,
    JSON_SETTINGS,
    FeedSetting,
    FeedSettings,
    SettingKind,
    SettingOptions,
)
from feedmill.serve.rest.core.fields import Id, RequestBody, StrictBool, StrictInt

LINES = StringConstraints(pattern=r"^[^\x00]*$")
ONE_LINE = StringConstraints(strip_whitespace=True, pattern=r"^[^\x00-\x1f\x7f]*$")

_REQUEST_TYPES: dict[SettingKind, Callable[[SettingOptions], Any]] = {
    SettingKind.FLAG: lambda options: StrictBool,
    SettingKind.NUMBER: lambda options: Annotated[StrictInt, Field(ge=options.minimum, le=options.maximum)],
    SettingKind.LINE: lambda options: Annotated[str, ONE_LINE, Field(max_length=options.maximum)],
    SettingKind.LINES: lambda options: Annotated[str, LINES, Field(max_length=options.maximum)],
    SettingKind.IDS: lambda options: Annotated[list[Id], Field(max_length=options.maximum)],
}


def _request_field(setting: FeedSetting) -> Any:
    sent = _REQUEST_TYPES[setting.kind](setting.options)
    return Annotated[sent | None, Field(default=None, description=setting.options.about)]


class FilterRulesRequest(RequestBody):
    """What a block rule finds, and what none of the keep rules finds if there are any, is never unread."""

    __annotations__ = {name: _request_field(FEED_SETTINGS[name]) for name in ("block_rules", "keep_rules")}

    def rules(self) -> tuple[str, str]:
        """The block rules and the keep rules."""
        given = self.model_dump()
        return given["block_rules"] or "", given["keep_rules"] or ""


class FeedSettingsChanges(RequestBody):
    """What is left out stays as it is; null takes back what was chosen."""

    __annotations__ = {name: _request_field(setting) for name, setting in JSON_SETTINGS.items()}

    def changes(self) -> dict[str, Any]:
        """What was said, as the values of `FeedSettings`."""
        given = self.model_dump(exclude_unset=True)
        said = {name: getattr(DEFAULT_FEED_SETTINGS, name) if value is None else value for name, value in given.items()}
        return said | {name: tuple(sorted(set(value))) for name, value in said.items() if isinstance(value, list)}


class FeedSettingsResponse(BaseModel):
    __annotations__ = {name: setting.type for name, setting in JSON_SETTINGS.items()}

    @classmethod
    def of(cls, settings: FeedSettings) -> "FeedSettingsResponse":
        return cls.model_validate(settings, from_attributes=True)


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
