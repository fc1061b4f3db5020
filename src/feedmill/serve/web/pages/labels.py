"""`/item/n/labels`: which labels an article bears; a new one is made on the way."""

from datetime import UTC, datetime

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.library.labels import ensure_label
from feedmill.library.marking import mark_one
from feedmill.library.reading import listed
from feedmill.model.reading import Marks
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, render, signed_in, text, the_app
from feedmill.serve.web.places import local
from feedmill.serve.web.problems import is_partial
from feedmill.store.labels import labels_of

LONGEST_NAME = 100


async def change(request: Request) -> Response:
    """Takes the form for the whole truth: what is ticked is borne, what is not ticked is not."""
    caller = await signed_in(request)
    sent = await form(request)
    db, user_id, entry_id = the_app(request).db, caller.user.id, path_id(request)
    ticked = {each for each in sent.getlist("label") if isinstance(each, str)}
    name = new_name(sent)
    if name:
        ticked.add(str(await ensure_label(db, user_id, name)))
    every = [row["id"] for row in await labels_of(db, user_id)]
    marks = Marks(
        add_labels=tuple(id for id in every if str(id) in ticked),
        remove_labels=tuple(id for id in every if str(id) not in ticked),
    )
    await mark_one(db, user_id, entry_id, marks, datetime.now(UTC))
    if is_partial(request):
        [entry] = await listed(db, user_id, [entry_id])
        return render(request, "parts/labels_changed.html", entry=entry, labels=await labels_of(db, user_id))
    return go(local(sent.get("next")), say("article.labelled"))


def new_name(sent: FormData) -> str:
    """What the field for a new label says; empty when nothing."""
    return " ".join(text(sent, "new").split())[:LONGEST_NAME]


routes = [Route("/item/{id:int}/labels", change, methods=["POST"])]
