"""Reads and shows the form of a filter: name, condition, scope, actions."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from starlette.datastructures import FormData, QueryParams

from feedmill.library.filters.conditions import BadCondition
from feedmill.library.filters.try_filter import FilterTrial
from feedmill.library.search.query_tokens import MOST_CHARACTERS
from feedmill.model.filters.entry_filter import (
    ALL_FEEDS,
    EntryFilter,
    FilterActions,
    FilterDraft,
    FilterScope,
    ScopeKind,
)
from feedmill.model.timestamps import from_iso
from feedmill.serve.web.core.form_fields import CHECKBOX, NUMBER, TEXT, matching, one_of
from feedmill.serve.web.core.read_form import form_text
from feedmill.serve.web.entries.list_views import view_or_unread

LONGEST_NAME = 190
# The actions without a target, in the order of the form. They are fields of `FilterActions`.
ACTION_FLAGS = ("read", "star", "later", "hide", "raise_to_top", "notify", "full_text")
FILTER_FORM = {
    "name": TEXT,
    "condition": TEXT,
    "scope": matching(r"all|(?:folder|feed):[0-9]{1,15}").or_empty,
    "action": one_of(*ACTION_FLAGS).repeated,
    "label": NUMBER.repeated,
    "new_label": TEXT,
    "pool": NUMBER.repeated,
    "service": NUMBER.repeated,
    "stops": CHECKBOX,
    "stored": CHECKBOX,
}
# A trial needs only the condition and the scope; the button sends the whole form.
TRIAL_FORM = {name: each if each.is_repeated else each.optional for name, each in FILTER_FORM.items()}


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The stored or submitted values, and what is wrong with them.

    `scope` is `all`, `folder:3` or `feed:12`; empty if its feed or folder is gone. `is_for_stored`: it is also applied
    to stored entries.
    """

    name: str = ""
    condition: str = ""
    scope: str = "all"
    flags: frozenset[str] = frozenset()
    label_ids: tuple[int, ...] = ()
    new_label: str = ""
    pool_group_ids: tuple[int, ...] = ()
    service_ids: tuple[int, ...] = ()
    stops: bool = False
    is_for_stored: bool = False
    mistake: BadCondition | None = None
    errors: dict[str, str] = field(default_factory=dict)
    trial: FilterTrial | None = None

    @property
    def text(self) -> str:
        """The condition, under the name by which the search shows its mistakes."""
        return self.condition

    def actions(self, label_ids: Sequence[int]) -> FilterActions:
        flags = {name: name in self.flags for name in ACTION_FLAGS}
        return FilterActions(
            **flags,
            label_ids=tuple(label_ids),
            pool_group_ids=self.pool_group_ids,
            service_ids=self.service_ids,
        )

    def draft(self, label_ids: Sequence[int], before: EntryFilter | None = None) -> FilterDraft:
        """What is saved. A filter without a name is called by its condition."""
        return FilterDraft(
            self.name or self.condition[:LONGEST_NAME],
            self.condition,
            read_scope(self.scope),
            self.actions(label_ids),
            self.stops,
            before.enabled if before else True,
            _expiry(before),
        )

    def with_error(self, name: str, key: str) -> "FilterForm":
        return replace(self, errors=self.errors | {name: key})


def stored_form(stored: EntryFilter) -> FilterForm:
    """The form of a filter as it is."""
    actions = stored.actions
    return FilterForm(
        name=stored.name,
        condition=stored.condition,
        scope=written_scope(stored.scope),
        flags=frozenset(name for name in ACTION_FLAGS if getattr(actions, name)),
        label_ids=actions.label_ids,
        pool_group_ids=actions.pool_group_ids,
        service_ids=actions.service_ids,
        stops=stored.stops,
    )


def form_from_query(query: QueryParams) -> FilterForm:
    """The form of a new filter: of a search (`q`), for a feed or a folder (`in`)."""
    place = view_or_unread(query.get("in", ""))
    scope = f"{place.kind}:{place.id}" if place.kind in ("folder", "feed") and place.id else "all"
    return FilterForm(condition=_one_line(query.get("q", "")), scope=scope)


def submitted_form(sent: FormData) -> FilterForm:
    """The form as it was sent."""
    return FilterForm(
        name=" ".join(form_text(sent, "name").split()),
        condition=_one_line(form_text(sent, "condition")),
        scope=form_text(sent, "scope"),
        flags=frozenset(each for each in sent.getlist("action") if isinstance(each, str)),
        label_ids=_ids(sent, "label"),
        new_label=form_text(sent, "new_label"),
        pool_group_ids=_ids(sent, "pool"),
        service_ids=_ids(sent, "service"),
        stops=bool(form_text(sent, "stops")),
        is_for_stored=bool(form_text(sent, "stored")),
    )


def read_scope(written: str) -> FilterScope:
    kind, _, id = written.partition(":")
    return FilterScope(ScopeKind(kind), int(id)) if id else ALL_FEEDS


def written_scope(scope: FilterScope) -> str:
    """The scope as a value of its field; empty if its folder or feed is gone."""
    if scope.kind is ScopeKind.ALL:
        return "all"
    return f"{scope.kind}:{scope.id}" if scope.id is not None else ""


def _expiry(before: EntryFilter | None) -> datetime | None:
    return from_iso(before.expires_at) if before and before.expires_at else None


def _one_line(written: str) -> str:
    """The condition on one line, cut one character beyond the limit, so that the parser can refuse it."""
    return "".join(letter if letter.isprintable() else " " for letter in written).strip()[: MOST_CHARACTERS + 1]


def _ids(sent: FormData, name: str) -> tuple[int, ...]:
    return tuple(int(each) for each in sent.getlist(name) if isinstance(each, str))
