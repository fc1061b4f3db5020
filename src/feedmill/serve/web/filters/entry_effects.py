"""`/item/n/effects`: what filters did with an article, and takes it back."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.entries.list_entries import entry_summaries
from feedmill.library.filters.effects import effects_of_entry, undo_effect
from feedmill.model.filters.entry_filter import FilterAction
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_template

# The marks that an undo takes away, as the script of lists calls them.
UNMARKS = {FilterAction.READ: "unread", FilterAction.STAR: "unstar", FilterAction.LATER: "unlater"}


@accepts_form({"action": one_of(*FilterAction), "target": NUMBER, "next": NEXT_PATH})
async def undo_entry_effect(request: Request) -> Response:
    """Takes back one thing that a filter did with this article."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, entry_id, action = the_app(request), path_id(request), FilterAction(form_text(sent, "action"))
    await undo_effect(app.db, caller.user.id, entry_id, action, int(form_text(sent, "target")), app.tools.clock())
    if not is_fragment_request(request):
        return redirect(local_path(sent.get("next")), flash_success("filters.undone"))
    return render_template(
        request,
        "filters/effects.html",
        entry_id=entry_id,
        effects=await effects_of_entry(app.db, caller.user.id, entry_id),
        unmark=f"{UNMARKS[action]}:{entry_id}" if action in UNMARKS else "",
        changed_entry=(await entry_summaries(app.db, caller.user.id, [entry_id]))[0],
    )


routes = [Route("/item/{id:int}/effects", undo_entry_effect, methods=["POST"])]
