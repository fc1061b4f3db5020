"""What filters did to entries, and jobs that apply a filter to stored entries or take back what it did."""

from typing import Literal

from msgspec import Struct

from feedmill.i18n.messages import Message
from feedmill.model.filters.entry_filter import FilterAction, FilterKind

FilterJobKind = Literal["apply", "undo", "revert"]
FilterJobStatus = Literal["running", "done", "cancelled", "failed"]

# A message that was sent and a text that was fetched stay.
LASTING_ACTIONS = frozenset({FilterAction.NOTIFY, FilterAction.FULL_TEXT})


class FilterEffect(Struct, frozen=True, gc=False):
    """What a filter did to an entry and can take back. `target_id` is the label, the pool group or the service, else 0.

    `is_deleted`: the filter was deleted since.
    """

    entry_id: int
    action: FilterAction
    target_id: int
    target_name: str | None
    filter_id: int
    filter_name: str
    filter_kind: FilterKind
    is_deleted: bool
    at: str

    @property
    def can_undo(self) -> bool:
        return self.action not in LASTING_ACTIONS


class FilterJob(Struct, frozen=True, gc=False):
    """Applies a filter to stored entries, undoes an earlier job, or reverts all that a filter did.

    `total` is the number of entries to look at, `looked_at` of those that were, `changed` of those that were changed.
    `last_error`: why it failed, or its last attempt. `waits_for_index`: until the search index has all stored entries.
    """

    id: int
    filter_id: int
    filter_name: str
    kind: FilterJobKind
    status: FilterJobStatus
    total: int
    looked_at: int
    changed: int
    undoes_job_id: int | None
    created_at: str
    finished_at: str | None
    last_error: Message | None = None
    waits_for_index: bool = False

    @property
    def can_undo(self) -> bool:
        return self.kind == "apply" and self.status != "running" and self.changed > 0

    @property
    def can_start_again(self) -> bool:
        return self.status in ("failed", "cancelled")
