"""`/labels`: creates, renames and deletes labels."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict
from feedmill.i18n.messages import Message
from feedmill.library.entries.labels import drop_label, find_label, labels_of_user, make_label, rename_label
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

PATH = "/labels"
LONGEST_NAME = 100


async def list_labels(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user)


@accepts_form({"name": TEXT})
async def create_label(request: Request) -> Response:
    caller = await signed_in(request)
    written = form_text(await checked_form(request), "name")
    try:
        await make_label(the_app(request).db, caller.user.id, _name(written))
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {"new": _wrong(error)}, 422, written)
    return redirect(PATH, flash_success("labels.made", name=_name(written)))


@accepts_form({"name": TEXT})
async def change_label(request: Request) -> Response:
    caller = await signed_in(request)
    written = form_text(await checked_form(request), "name")
    db, label = the_app(request).db, await find_label(the_app(request).db, caller.user.id, path_id(request))
    try:
        await rename_label(db, caller.user.id, label.id, _name(written))
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {str(label.id): _wrong(error)}, 422)
    return redirect(PATH, flash_success("labels.renamed", name=_name(written)))


@accepts_form({})
async def delete_label(request: Request) -> Response:
    """Deletes a label; its entries stay."""
    caller = await signed_in(request)
    await checked_form(request)
    db, label = the_app(request).db, await find_label(the_app(request).db, caller.user.id, path_id(request))
    await drop_label(db, caller.user.id, label.id)
    return redirect(PATH, flash_success("labels.deleted", name=label.name))


def _name(written: str) -> str:
    name = " ".join(written.split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(Message("error.label_without_name"), "name")
    return name


def _wrong(error: BadInput | Conflict) -> str:
    return "labels.exists" if isinstance(error, Conflict) else "labels.bad_name"


async def _shown(
    request: Request, user: User, errors: dict[str, str] | None = None, status: int = 200, name: str = ""
) -> Response:
    labels = await labels_of_user(the_app(request).db, user.id)
    return await render_page(request, "entries/labels.html", status, labels=labels, errors=errors or {}, name=name)


routes = [
    Route(PATH, list_labels, methods=["GET"]),
    Route(PATH, create_label, methods=["POST"]),
    Route("/labels/{id:int}", change_label, methods=["POST"]),
    Route("/labels/{id:int}/delete", delete_label, methods=["POST"]),
]
