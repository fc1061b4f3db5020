"""`/marks/save`: saves articles to the user's services."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.services.service import QueuedSaves
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import FlashMessage, flash_error, flash_success
from feedmill.serve.web.core.form_fields import NEXT_PATH, NUMBER, TEXT, accepts_form
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import local_path
from feedmill.serve.web.entries.marks import answer_with_message
from feedmill.serve.web.entries.selected_entries import selected_ids


@accepts_form({"id": NUMBER.repeated, "service": NUMBER.optional, "new": TEXT.optional, "next": NEXT_PATH})
async def save_entries(request: Request) -> Response:
    """Saves the articles to the service whose button was pressed; without one, to those of the keyboard shortcut."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    chosen = [read_id(form_text(sent, "service"))] if sent.get("service") else None
    queued = await the_app(request).services.save(caller.user.id, selected_ids(sent), chosen)
    return await answer_with_message(request, caller.user, local_path(sent.get("next")), _message(queued))


def _message(queued: QueuedSaves) -> FlashMessage:
    if not queued.services:
        return flash_error("services.none_by_key")
    if not queued.entries:
        return flash_success("list.nothing_selected")
    names = ", ".join(service.name for service in queued.services)
    return flash_success("services.queued", n=queued.entries, names=names)


routes = [Route("/marks/save", save_entries, methods=["POST"])]
