"""Schemas of filters, mutes and follows."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StringConstraints

from feedmill.library.filters.manage_filters import MOST_TARGETS
from feedmill.library.filters.mutes import LONGEST_SUBJECT, FilterPeriod
from feedmill.library.search.query_tokens import MOST_CHARACTERS
from feedmill.model.filters.entry_filter import (
    EntryFilter,
    FilterActions,
    FilterDraft,
    FilterKind,
    FilterScope,
    FilterSubject,
    ScopeKind,
    SubjectKind,
)
from feedmill.serve.rest.core.base_models import FromAttributes, RequestBody
from feedmill.serve.rest.core.field_types import Id, ShortText, StrictBool, StrictTime

Condition = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MOST_CHARACTERS, pattern=r"^[^\x00-\x1f\x7f]*$"),
    Field(description="In the search language, such as `in:title:rust release -site:example.org`."),
]
SubjectText = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_SUBJECT, pattern=r"^[^\x00-\x1f\x7f]*$"),
]
ScopeName = Literal["all", "folder", "feed"]
Targets = Annotated[list[Id], Field(max_length=MOST_TARGETS)]


class ScopeRequest(RequestBody):
    """All feeds, or those of a folder and its subfolders, or one. `id` is that of the folder or the subscription."""

    kind: ScopeName = "all"
    id: Id | None = None

    def scope(self) -> FilterScope:
        return FilterScope(ScopeKind(self.kind), self.id)


class ActionsRequest(RequestBody):
    """What is done with entries that match; at least one thing."""

    read: StrictBool = Field(default=False, description="Mark as read.")
    star: StrictBool = False
    later: StrictBool = Field(default=False, description="Put into read later.")
    hide: StrictBool = Field(default=False, description="Keep out of unread lists, without marking as read.")
    raise_to_top: StrictBool = Field(
        default=False, description="Lists of unread entries show it first: `raised` of `GET /entries`."
    )
    notify: StrictBool = Field(
        default=False, description="Notify targets and call webhooks, as the event `entries.matched`."
    )
    full_text: StrictBool = Field(default=False, description="Fetch the full text.")
    label_ids: Targets = Field(default=[], description="Labels to add.")
    pool_group_ids: Targets = Field(default=[], description="Put into these pools; you need the right to fill them.")
    service_ids: Targets = Field(default=[], description="Services to save the entries to, each entry once.")

    def actions(self) -> FilterActions:
        given = self.model_dump()
        lists = {name: tuple(dict.fromkeys(given[name])) for name in ("label_ids", "pool_group_ids", "service_ids")}
        return FilterActions(**(given | lists))


class NewFilter(RequestBody):
    name: ShortText
    condition: Condition
    scope: ScopeRequest = ScopeRequest()
    actions: ActionsRequest
    stops: StrictBool = Field(default=False, description="Later filters leave alone what this one matches.")
    enabled: StrictBool = True
    expires_at: StrictTime | None = Field(default=None, description="When it ends; null for never.")

    def draft(self) -> FilterDraft:
        return FilterDraft(
            self.name,
            self.condition,
            self.scope.scope(),
            self.actions.actions(),
            self.stops,
            self.enabled,
            self.expires_at,
        )


class FilterChanges(RequestBody):
    """Fields that are left out are not changed. A mute or a follow has only `enabled` and `expires_at`."""

    name: ShortText | None = None
    condition: Condition | None = None
    scope: ScopeRequest | None = None
    actions: ActionsRequest | None = None
    stops: StrictBool | None = None
    enabled: StrictBool | None = None
    expires_at: StrictTime | None = Field(default=None, description="When it ends; null for never.")

    @property
    def is_about_mutes(self) -> bool:
        return self.model_fields_set <= {"enabled", "expires_at"}

    def draft(self, before: EntryFilter) -> FilterDraft:
        """The filter as it is after the changes."""
        ends_at = datetime.fromisoformat(before.expires_at) if before.expires_at else None
        return FilterDraft(
            self.name or before.name,
            self.condition or before.condition,
            self.scope.scope() if self.scope else before.scope,
            self.actions.actions() if self.actions else before.actions,
            before.stops if self.stops is None else self.stops,
            before.enabled if self.enabled is None else self.enabled,
            self.expires_at if "expires_at" in self.model_fields_set else ends_at,
        )


class NewMute(RequestBody):
    """A word or phrase, an author, or a site with its subdomains."""

    kind: SubjectKind = "word"
    text: SubjectText
    until: StrictTime | None = Field(default=None, description="When it ends; null for never.")
    scope: ScopeRequest = ScopeRequest()

    def subject(self) -> FilterSubject:
        return FilterSubject(self.kind, self.text)

    def period(self) -> FilterPeriod:
        return FilterPeriod(self.until, self.scope.scope())


class FilterOrder(RequestBody):
    ids: Annotated[list[Id], Field(max_length=1000, description="Filters that are not named follow in their order.")]


class ScopeResponse(FromAttributes):
    kind: ScopeName
    id: int | None = Field(description="Null for all feeds, and if the folder or feed was deleted.")


class ActionsResponse(FromAttributes):
    read: bool
    star: bool
    later: bool
    hide: bool
    raise_to_top: bool
    notify: bool
    full_text: bool
    label_ids: list[int]
    pool_group_ids: list[int]
    service_ids: list[int]


class SubjectResponse(FromAttributes):
    kind: SubjectKind
    text: str


class FilterResponse(BaseModel):
    id: int
    kind: FilterKind
    name: str
    condition: str
    scope: ScopeResponse
    actions: ActionsResponse
    stops: bool
    enabled: bool
    subject: SubjectResponse | None = Field(description="What a mute or a follow is about.")
    expires_at: datetime | None
    hit_count: int = Field(description="How many entries it has matched.")
    last_hit_at: datetime | None
    created_at: datetime

    @classmethod
    def of(cls, found: EntryFilter) -> Self:
        values: dict[str, Any] = {name: getattr(found, name) for name in cls.model_fields}
        return cls.model_validate(values, from_attributes=True)


class FilterPage(BaseModel):
    items: list[FilterResponse]
    next: None = Field(default=None, description="Always null: there is one page.")
