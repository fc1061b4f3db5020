"""Schemas of filter rules and of their preview."""

from pydantic import BaseModel

from feedmill.library.filters.filter_new_entries import PreviewedEntry
from feedmill.model.feed_settings import (
    FEED_SETTINGS,
)
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.feeds.settings_schemas import request_field


class FilterRulesRequest(RequestBody):
    """An entry is blocked if a block rule matches, or if there are keep rules and none of them matches."""

    __annotations__ = {name: request_field(FEED_SETTINGS[name]) for name in ("block_rules", "keep_rules")}

    def rules(self) -> tuple[str, str]:
        """The block rules and the keep rules."""
        given = self.model_dump()
        return given["block_rules"] or "", given["keep_rules"] or ""


class FilterPreviewEntryResponse(BaseModel):
    """An existing entry. `rule` is the line that decided; null if no rule matched."""

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
