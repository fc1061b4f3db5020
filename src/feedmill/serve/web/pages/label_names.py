"""`/labels`: make, rename and delete labels."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict
from feedmill.library.labels import drop_label, find_label, make_label, rename_label
from feedmill.model.account import User
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app
from feedmill.store.labels import labels_of

PATH = "/labels"
LONGEST_NAME = 100


async def see(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user)


async def make(request: Request) -> Response:
    caller = await signed_in(request)
    written = text(await form(request), "name")
    try:
        await make_label(the_app(request).db, caller.user.id, _name(written))
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {"new": _wrong(error)}, 422, written)
    return go(PATH, say("labels.made", name=_name(written)))


async def rename(request: Request) -> Response:
    caller = await signed_in(request)
    written = text(await form(request), "name")
    db, label = the_app(request).db, await find_label(the_app(request).db, caller.user.id, path_id(request))
    try:
        await rename_label(db, caller.user.id, label["id"], _name(written))
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {str(label["id"]): _wrong(error)}, 422)
    return go(PATH, say("labels.renamed", name=_name(written)))


async def delete(request: Request) -> Response:
    """The entries that bore it stay."""
    caller = await signed_in(request)
    await form(request)
    db, label = the_app(request).db, await find_label(the_app(request).db, caller.user.id, path_id(request))
    await drop_label(db, caller.user.id, label["id"])
    return go(PATH, say("labels.deleted", name=label["name"]))


def _name(written: str) -> str:
    name = " ".join(written.split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput("a label needs a name", "name")
    return name


def _wrong(error: BadInput | Conflict) -> str:
    return "labels.exists" if isinstance(error, Conflict) else "labels.bad_name"


async def _shown(
    request: Request, user: User, errors: dict[str, str] | None = None, status: int = 200, name: str = ""
) -> Response:
    labels = await labels_of(the_app(request).db, user.id)
    return await show(request, "labels.html", status, labels=labels, errors=errors or {}, name=name)


routes = [
    Route(PATH, see, methods=["GET"]),
    Route(PATH, make, methods=["POST"]),
    Route("/labels/{id:int}", rename, methods=["POST"]),
    Route("/labels/{id:int}/delete", delete, methods=["POST"]),
]
