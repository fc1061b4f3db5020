"""`/marks/label` and `/marks/images`: labels the selected entries or archives their images."""

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.archive.request_images import archive_images_now
from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.marks import apply_marks_with_undo
from feedmill.model.entry_marks import MAX_MARKED_AT_ONCE, EntryMarks
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.entries.entry_labels import new_label_name
from feedmill.serve.web.entries.marks import many_marked


@accepts_form({"id": NUMBER.repeated, "label": NUMBER.optional, "new": TEXT.optional, "next": NEXT_PATH})
async def label_entries(request: Request) -> Response:
    """Adds the label whose button was pressed, or the new one. Without either nothing changes."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db, user_id, ids, name = the_app(request).db, caller.user.id, selected_ids(sent), new_label_name(sent)
    if not ids or not (name or sent.get("label")):
        return redirect(local_path(sent.get("next")), flash_success("list.nothing_selected") if not ids else None)
    chosen = read_id(form_text(sent, "label")) if sent.get("label") else await ensure_label(db, user_id, name)
    marked = await apply_marks_with_undo(db, user_id, ids, EntryMarks(add_labels=(chosen,)), datetime.now(UTC))
    return redirect(local_path(sent.get("next")), many_marked("list.labelled", marked))


@accepts_form({"id": NUMBER.repeated, "new": TEXT.optional, "next": NEXT_PATH})
async def archive_images(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    wanted = await archive_images_now(the_app(request).db, caller.user.id, selected_ids(sent), datetime.now(UTC))
    return redirect(
        local_path(sent.get("next")),
        flash_success("list.images_wanted", n=wanted) if wanted else flash_success("list.nothing_selected"),
    )


def selected_ids(sent: FormData) -> list[int]:
    ids = [read_id(id) for id in sent.getlist("id") if isinstance(id, str)]
    if len(ids) > MAX_MARKED_AT_ONCE:
        raise BadInput(Message("error.too_many_changed", most=MAX_MARKED_AT_ONCE))
    return ids


routes = [
    Route("/marks/label", label_entries, methods=["POST"]),
    Route("/marks/images", archive_images, methods=["POST"]),
]
