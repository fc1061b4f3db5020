"""What is done to those of a list that are ticked, beside marks: `/marks/label` and `/marks/images`."""

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.images import keep_images_now
from feedmill.library.labels import ensure_label
from feedmill.library.marking import mark
from feedmill.model.reading import MOST_MARKED, Marks
from feedmill.serve.web.choices import number
from feedmill.serve.web.flash import say
from feedmill.serve.web.page import form, go, signed_in, text, the_app
from feedmill.serve.web.pages.labels import new_name
from feedmill.serve.web.places import local


async def label(request: Request) -> Response:
    """Puts on the label whose button was pressed, or the new one. Who only pressed Enter among the rows did neither."""
    caller = await signed_in(request)
    sent = await form(request)
    db, user_id, ids, name = the_app(request).db, caller.user.id, _ticked(sent), new_name(sent)
    if not ids or not (name or sent.get("label")):
        return go(local(sent.get("next")), say("list.nothing_selected") if not ids else None)
    chosen = number(text(sent, "label")) if sent.get("label") else await ensure_label(db, user_id, name)
    marked = await mark(db, user_id, ids, Marks(add_labels=(chosen,)), datetime.now(UTC))
    return go(local(sent.get("next")), say("list.labelled", n=len(marked.ids)))


async def images(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    wanted = await keep_images_now(the_app(request).db, caller.user.id, _ticked(sent), datetime.now(UTC))
    return go(local(sent.get("next")), say("list.images_wanted", n=wanted) if wanted else say("list.nothing_selected"))


def _ticked(sent: FormData) -> list[int]:
    ids = [number(id) for id in sent.getlist("id") if isinstance(id, str)]
    if len(ids) > MOST_MARKED:
        raise BadInput(f"at most {MOST_MARKED} entries can be changed at once")
    return ids


routes = [
    Route("/marks/label", label, methods=["POST"]),
    Route("/marks/images", images, methods=["POST"]),
]
