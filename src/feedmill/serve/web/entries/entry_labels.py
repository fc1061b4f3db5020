"""`/item/n/labels`: sets the labels of an entry."""

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import ensure_label, labels_of_user
from feedmill.library.entries.list_entries import entry_summaries
from feedmill.library.entries.marks import apply_marks_to_entry
from feedmill.model.entry_marks import EntryMarks
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_template

LONGEST_NAME = 100


@accepts_form({"label": NUMBER.repeated, "new": TEXT, "next": NEXT_PATH})
async def change_entry_labels(request: Request) -> Response:
    """Sets the labels to those that are ticked; all others are removed."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db, user_id, entry_id = the_app(request).db, caller.user.id, path_id(request)
    if not await entry_summaries(db, user_id, [entry_id]):
        raise NotFound(Message("error.no_such_entry"))
    ticked = {each for each in sent.getlist("label") if isinstance(each, str)}
    if ticked - {str(label.id) for label in await labels_of_user(db, user_id)}:
        raise NotFound(Message("error.no_such_label"))
    name = new_label_name(sent)
    if name:
        ticked.add(str(await ensure_label(db, user_id, name)))
    every = [label.id for label in await labels_of_user(db, user_id)]
    marks = EntryMarks(
        add_labels=tuple(id for id in every if str(id) in ticked),
        remove_labels=tuple(id for id in every if str(id) not in ticked),
    )
    await apply_marks_to_entry(db, user_id, entry_id, marks, datetime.now(UTC))
    if is_fragment_request(request):
        [entry] = await entry_summaries(db, user_id, [entry_id])
        labels = await labels_of_user(db, user_id)
        return render_template(request, "entries/changed_labels.html", entry=entry, labels=labels)
    return redirect(local_path(sent.get("next")), flash_success("article.labelled"))


def new_label_name(sent: FormData) -> str:
    """The name in the field for a new label; may be empty."""
    return " ".join(form_text(sent, "new").split())[:LONGEST_NAME]


routes = [Route("/item/{id:int}/labels", change_entry_labels, methods=["POST"])]
