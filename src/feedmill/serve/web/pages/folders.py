"""`/folders`: make, rename, nest and delete folders."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict
from feedmill.library import folders as own
from feedmill.model.account import User
from feedmill.model.subscription import Folder
from feedmill.serve.web.choices import number
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import path_id
from feedmill.serve.web.page import form, go, show, signed_in, text, the_app
from feedmill.store.folders import folders_of
from feedmill.store.subscriptions import subscriptions_of

PAGE = "/folders"


@dataclass(frozen=True, slots=True)
class FolderRow:
    """`depth` is 0 at the top; `feeds` are those in it alone; `homes` the folders that it may be moved into."""

    folder: Folder
    depth: int
    feeds: int
    homes: list[tuple[int, str]]


async def see(request: Request) -> Response:
    caller = await signed_in(request)
    return await _shown(request, caller.user)


async def make(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    try:
        name, parent = _name(text(sent, "name")), number(text(sent, "parent") or "0")
        await own.make_folder(the_app(request).db, caller.user.id, name, parent, 0)
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {"new": _wrong(error)}, 422, text(sent, "name"))
    return go(PAGE, say("folders.made", name=name))


async def alter(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    folder_id = path_id(request)
    db = the_app(request).db
    await own.find_folder(db, caller.user.id, folder_id)
    try:
        name, parent = _name(text(sent, "name")), number(text(sent, "parent") or "0")
        await own.alter_folder(db, caller.user.id, folder_id, name, parent, None)
    except (BadInput, Conflict) as error:
        return await _shown(request, caller.user, {str(folder_id): _wrong(error)}, 422)
    return go(PAGE, say("folders.changed", name=name))


async def drop(request: Request) -> Response:
    """The feeds of the folder stay."""
    caller = await signed_in(request)
    await form(request)
    db = the_app(request).db
    folder = await own.find_folder(db, caller.user.id, path_id(request))
    await own.delete_folder(db, caller.user.id, folder.id)
    return go(PAGE, say("folders.deleted", name=folder.name))


def _name(written: str) -> str:
    name = " ".join(written.split())
    if not 1 <= len(name) <= own.MAX_NAME or not name.isprintable():
        raise BadInput("a folder needs a name", "name")
    return name


def _wrong(error: BadInput | Conflict) -> str:
    """The words for what is wrong."""
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
    return await show(request, "folders.html", status, rows=rows, paths=paths, errors=errors or {}, name=name)


async def _rows(request: Request, user: User) -> list[FolderRow]:
    """Every folder before those in it."""
    db = the_app(request).db
    there = await folders_of(db, user.id)
    counts: dict[int, int] = {}
    for subscription in await subscriptions_of(db, user.id):
        for id in subscription.folder_ids:
            counts[id] = counts.get(id, 0) + 1
    names = {id: " / ".join(path) for id, path in own.paths_of(there).items()}
    return [
        FolderRow(folder, depth, counts.get(folder.id, 0), _homes(there, folder, names))
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


def _homes(there: Sequence[Folder], folder: Folder, names: dict[int, str]) -> list[tuple[int, str]]:
    own_tree = own.inside(there, folder.id)
    return sorted(((id, name) for id, name in names.items() if id not in own_tree), key=lambda home: home[1].casefold())


routes = [
    Route(PAGE, see, methods=["GET"]),
    Route(PAGE, make, methods=["POST"]),
    Route("/folders/{id:int}", alter, methods=["POST"]),
    Route("/folders/{id:int}/delete", drop, methods=["POST"]),
]
