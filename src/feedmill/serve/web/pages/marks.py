"""What is done to entries of a list: `/marks` (one or many), `/mark-all-read`, `/undo`, and `/counts` after it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.library.marking import mark, mark_all_read, take_back
from feedmill.model.account import User
from feedmill.model.reading import MOST_MARKED, Marks, Sweep
from feedmill.serve.web.flash import say
from feedmill.serve.web.frame import Frame, SidebarFolder, load_frame
from feedmill.serve.web.page import form, go, midnight, signed_in, text, the_app
from feedmill.serve.web.places import local
from feedmill.serve.web.views import open_view, parse_view

ACTIONS = {
    "read": Marks(read=True),
    "unread": Marks(read=False),
    "star": Marks(starred=True),
    "unstar": Marks(starred=False),
    "later": Marks(later=True),
    "unlater": Marks(later=False),
}
AGES = {"1": timedelta(days=1), "7": timedelta(days=7)}


async def marks(request: Request) -> Response:
    """`do=read:12` marks one, `do=read` those that are ticked (`id`).

    Scripts get the counts, forms their page, and who leaves the page gets nothing.
    """
    caller = await signed_in(request)
    sent = await form(request)
    ticked = [id for id in sent.getlist("id") if isinstance(id, str)]
    wishes = list(_wishes((each for each in sent.getlist("do") if isinstance(each, str)), ticked))
    if sum(len(ids) for _, ids in wishes) > MOST_MARKED:
        raise BadInput(f"at most {MOST_MARKED} entries can be marked at once")
    app, now = the_app(request), datetime.now(UTC)
    for action, ids in wishes:
        await mark(app.db, caller.user.id, ids, ACTIONS[action], now, app.settings.later_for)
    if "application/json" in request.headers.get("accept", ""):
        return await _counts(request, caller.user)
    return Response(status_code=204) if sent.get("quiet") else go(local(sent.get("next")))


def _wishes(asked: Iterable[str], ticked: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Action and entries, in the order in which they were asked for; neighbours of one action go together."""
    last, together = "", list[int]()
    for wish in asked:
        action, _, id = wish.partition(":")
        if action not in ACTIONS:
            raise BadInput("there is no such mark", "do")
        if action != last and together:
            yield last, together
            together = []
        last, together = action, together + _ids([id] if id else ticked)
    if together:
        yield last, together


def _ids(sent: list[str]) -> list[int]:
    if any(not id.isdecimal() or len(id) > 16 for id in sent):
        raise BadInput("there is no such entry", "id")
    return [int(id) for id in sent]


async def all_read(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    app, now = the_app(request), datetime.now(UTC)
    address = parse_view(text(sent, "view"))
    opened = await open_view(app.db, caller.user.id, address, midnight(request))
    age = AGES.get(text(sent, "age"))
    up_to = _ids([text(sent, "up_to")])[0] if sent.get("up_to") else None
    swept = await mark_all_read(
        app.db, caller.user.id, Sweep(opened.scope, now - age if age else None, up_to, opened.since), now
    )
    said = say("list.marked_all", undo=swept.undo, n=swept.marked) if swept.marked else say("list.marked_none")
    return go(address.path, said)


async def undo(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    await take_back(the_app(request).db, caller.user.id, text(sent, "undo"), datetime.now(UTC))
    return go(local(sent.get("next")), say("list.undone"))


async def counts(request: Request) -> Response:
    return await _counts(request, (await signed_in(request)).user)


async def _counts(request: Request, user: User) -> Response:
    return JSONResponse(counts_of(await load_frame(the_app(request).db, user)))


def counts_of(frame: Frame) -> dict[str, object]:
    """What the sidebar counts, for scripts."""
    folders = list(_every_folder(frame.folders))
    feeds = {feed.id: feed.unread for folder in frame.folders for feed in folder.every_feed()}
    feeds |= {feed.id: feed.unread for feed in frame.feeds}
    return {"unread": frame.unread, "feeds": feeds, "folders": {folder.id: folder.unread for folder in folders}}


def _every_folder(folders: Iterable[SidebarFolder]) -> Iterator[SidebarFolder]:
    for folder in folders:
        yield folder
        yield from _every_folder(folder.folders)


routes = [
    Route("/marks", marks, methods=["POST"]),
    Route("/mark-all-read", all_read, methods=["POST"]),
    Route("/undo", undo, methods=["POST"]),
    Route("/counts", counts, methods=["GET"]),
]
