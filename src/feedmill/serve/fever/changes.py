"""Changes that Fever apps ask for with `mark`: one item, or all of a feed or group up to a time."""

from datetime import UTC, datetime

from feedmill.app import App
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.entries.sync_entries import mark_in_chunks, mark_read_seen_until
from feedmill.model.entry_lists import EntryScope
from feedmill.model.entry_marks import EntryMarks, MarkAllRead
from feedmill.model.user import Caller
from feedmill.serve.fever.sections import subscriptions_in_group
from feedmill.serve.http.app_parameters import AppParameters

MARKS = {
    "read": EntryMarks(read=True),
    "unread": EntryMarks(read=False),
    "saved": EntryMarks(starred=True),
    "unsaved": EntryMarks(starred=False),
}
LATEST = 2**33


async def apply_change(app: App, who: Caller, sent: AppParameters) -> str | None:
    """Applies the change, if the request has one, and returns the section that it changed, which the response has.

    Asking twice has the same effect as once.
    """
    if "mark" not in sent:
        return None
    kind, state, id = sent.text("mark"), sent.text("as"), sent.number("id")
    # Group 0 is everything: an empty id must not be taken for it.
    if id is None or kind not in {"item", "feed", "group"} or state not in MARKS:
        raise BadInput(Message("error.unknown_action"), field="mark")
    if kind == "item":
        await mark_in_chunks(app.db, who.user, [id], MARKS[state], app.tools.clock())
    elif state == "read":
        await _mark_all(app, who, kind, id, sent)
    else:
        raise BadInput(Message("error.unknown_action"), field="as")
    return "unread_item_ids" if state in {"read", "unread"} else "saved_item_ids"


async def _mark_all(app: App, who: Caller, kind: str, id: int, sent: AppParameters) -> None:
    """Group 0 is everything; a feed or group that is not the user's has no entries."""
    scope = EntryScope((id,))
    if kind == "group":
        scope = EntryScope() if id == 0 else EntryScope(await subscriptions_in_group(app, who, id))
    before = sent.number("before")
    seen_until = datetime.fromtimestamp(min(before, LATEST), UTC) if before else None
    await mark_read_seen_until(app.db, who.user, MarkAllRead(scope), seen_until, app.tools.clock())
