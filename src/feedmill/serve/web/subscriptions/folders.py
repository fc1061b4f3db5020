"""`/folders`: creates, renames, nests and deletes folders."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict
from feedmill.i18n.messages import Message
from feedmill.i18n.natural_order import natural_key
from feedmill.library.subscriptions import folders as own
from feedmill.library.subscriptions.lookup import subscriptions_of_user
from feedmill.model.subscription import Folder
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import NUMBER, TEXT, accepts_form, one_of
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text, read_id
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

FOLDERS_PATH = "/folders"
# Whether articles of its feeds that other feeds have too are shown once.
STORIES = {"once": True, "each": False}


@dataclass(frozen=True, slots=True)
class FolderRow:
    """`depth` is 0 at the top; `feeds` are those directly in it; `homes` the folders that it may be moved into."""

    folder: Folder
    depth: int
    feeds: int
    homes: list[tuple[int, str]]


async def list_folders(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user)


@accepts_form({"name": TEXT, "parent": NUMBER.or_empty.optional})
async def create_folder(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    try:
        name, parent = _name(form_text(sent, "name")), read_id(form_text(sent, "parent") or "0")
        await own.make_folder(the_app(request).db, caller.user.id, name, parent, 0)
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {"new": _wrong(error)}, 422, form_text(sent, "name"))
    return redirect(FOLDERS_PATH, flash_success("folders.made", name=name))


@accepts_form({"name": TEXT, "parent": NUMBER.or_empty, "stories": one_of(*STORIES).optional})
async def change_folder(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    folder_id = path_id(request)
    db = the_app(request).db
    await own.find_folder(db, caller.user.id, folder_id)
    try:
        name, parent = _name(form_text(sent, "name")), read_id(form_text(sent, "parent") or "0")
        once = STORIES.get(form_text(sent, "stories"))
        await own.alter_folder(db, caller.user.id, folder_id, name, parent, None, once)
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {str(folder_id): _wrong(error)}, 422)
    return redirect(FOLDERS_PATH, flash_success("folders.changed", name=name))


@accepts_form({})
async def delete_folder(request: Request) -> Response:
    """Deletes a folder; its feeds stay."""
    caller = await signed_in(request)
    await checked_form(request)
    db = the_app(request).db
    folder = await own.find_folder(db, caller.user.id, path_id(request))
    await own.delete_folder(db, caller.user.id, folder.id)
    return redirect(FOLDERS_PATH, flash_success("folders.deleted", name=folder.name))


def _name(written: str) -> str:
    name = " ".join(written.split())
    if not 1 <= len(name) <= own.MAX_NAME or not name.isprintable():
        raise BadInput(Message("error.folder_without_name"), "name")
    return name


def _wrong(error: BadInput | Conflict) -> str:
    """The key of the text for an error."""
    if isinstance(error, own.FolderInItself):
        return "folders.in_itself"
    if isinstance(error, Conflict):
        return "folders.exists"
    return "folders.bad_name" if error.field == "name" else "folders.too_deep"


async def _shown(
    request: Request, user: User, errors: dict[str, str] | None = None, status: int = 200, name: str = ""
) -> Response:
    rows = await _rows(request, user)
    paths = [(row.folder.id, "\N{NO-BREAK SPACE}" * 3 * row.depth + row.folder.name) for row in rows]
    return await render_page(
        request, "subscriptions/folders.html", status, rows=rows, paths=paths, errors=errors or {}, name=name
    )


async def _rows(request: Request, user: User) -> list[FolderRow]:
    """The folders as rows, each before its subfolders."""
    db = the_app(request).db
    there = await own.folders_of_user(db, user.id)
    counts: dict[int, int] = {}
    for subscription in await subscriptions_of_user(db, user.id):
        for id in subscription.folder_ids:
            counts[id] = counts.get(id, 0) + 1
    names = {id: " / ".join(path) for id, path in own.folder_paths(there).items()}
    return [
        FolderRow(folder, depth, counts.get(folder.id, 0), _possible_parents(there, folder, names))
        for folder, depth in _in_order(there, 0, 0)
    ]


def _in_order(there: Sequence[Folder], parent_id: int, depth: int) -> list[tuple[Folder, int]]:
    if depth > own.MAX_DEPTH:
        return []
    return [
        line
        for folder in there
        if folder.parent_id == parent_id
        for line in [(folder, depth), *_in_order(there, folder.id, depth + 1)]
    ]


def _possible_parents(there: Sequence[Folder], folder: Folder, names: dict[int, str]) -> list[tuple[int, str]]:
    own_tree = own.folder_and_descendants(there, folder.id)
    return sorted(
        ((id, name) for id, name in names.items() if id not in own_tree), key=lambda home: natural_key(home[1])
    )


routes = [
    Route(FOLDERS_PATH, list_folders, methods=["GET"]),
    Route(FOLDERS_PATH, create_folder, methods=["POST"]),
    Route("/folders/{id:int}", change_folder, methods=["POST"]),
    Route("/folders/{id:int}/delete", delete_folder, methods=["POST"]),
]
