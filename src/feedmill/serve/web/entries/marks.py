"""`/marks`, `/mark-all-read`, `/mark-side-read` and `/undo`: marks entries as read, starred or for later."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.entries.marks import (
    apply_marks,
    apply_marks_with_undo,
    mark_all_read,
    mark_side_read,
    undo_mark_all_read,
)
from feedmill.model.entry_lists import EntryOrder
from feedmill.model.entry_marks import MAX_MARKED_AT_ONCE, EntryMarks, MarkAllRead, MarkAllReadResult
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import FlashMessage, flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, NEXT_PATH, NUMBER, TEXT, accepts_form, matching, one_of
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.preferences import shows_stories_once
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.entries.list_filter import ListFilter
from feedmill.serve.web.entries.list_views import MARKABLE_VIEW_FIELD, VIEW_FIELD, open_view, read_view
from feedmill.serve.web.sidebar.sidebar_counts import sidebar_counts_response

ACTIONS = {
    "read": EntryMarks(read=True),
    "unread": EntryMarks(read=False),
    "star": EntryMarks(starred=True),
    "unstar": EntryMarks(starred=False),
    "later": EntryMarks(later=True),
    "unlater": EntryMarks(later=False),
}
# What is said when many were marked; the words of other marks are those of any change.
MANY_MARKED = {
    "read": "list.marked_all",
    "unread": "list.marked_unread",
    "star": "list.marked_starred",
    "later": "list.marked_later",
}
AGES = {"1": timedelta(days=1), "7": timedelta(days=7)}
DO = matching(f"(?:{'|'.join(ACTIONS)})(?::[0-9]{{1,16}})?")


@accepts_form({"do": DO.repeated, "id": NUMBER.repeated, "new": TEXT.optional, "next": NEXT_PATH, "quiet": CHECKBOX})
async def mark_entries(request: Request) -> Response:
    """`do=read:12` marks one, `do=read` those that are ticked (`id`), which can be undone.

    Scripts get the counts, forms a redirect to their page; with `quiet` the response is empty.
    """
    caller = await signed_in(request)
    sent = await checked_form(request)
    ticked = [id for id in sent.getlist("id") if isinstance(id, str)]
    changes = list(_group_marks((each for each in sent.getlist("do") if isinstance(each, str)), ticked))
    if sum(len(ids) for _, ids in changes) > MAX_MARKED_AT_ONCE:
        raise BadInput(Message("error.too_many_marked", most=MAX_MARKED_AT_ONCE))
    app, now = the_app(request), datetime.now(UTC)
    if len(changes) == 1 and sent.getlist("do") == [changes[0][0]]:
        [(action, ids)] = changes
        marks = _marks(request, action)
        result = await apply_marks_with_undo(app.db, caller.user.id, ids, marks, now, app.settings.later_for)
        message = many_marked(MANY_MARKED.get(action, "list.changed"), result)
        return await answer_with_message(request, caller.user, local_path(sent.get("next")), message)
    for action, ids in changes:
        await apply_marks(app.db, caller.user.id, ids, _marks(request, action), now, app.settings.later_for)
    if _wants_json(request):
        return await sidebar_counts_response(request, caller.user)
    return Response(status_code=204) if sent.get("quiet") else redirect(local_path(sent.get("next")))


def _marks(request: Request, action: str) -> EntryMarks:
    return replace(ACTIONS[action], whole_stories=shows_stories_once(request))


def _group_marks(asked: Iterable[str], ticked: list[str]) -> Iterator[tuple[str, list[int]]]:
    """Each action with its entries, in the order of the request; consecutive ones of the same action are grouped."""
    last, together = "", list[int]()
    for mark in asked:
        action, _, id = mark.partition(":")
        if action not in ACTIONS:
            raise BadInput(Message("error.no_such_mark"), "do")
        if action != last and together:
            yield last, together
            together = []
        last, together = action, together + _ids([id] if id else ticked)
    if together:
        yield last, together


def _ids(sent: list[str]) -> list[int]:
    if any(not id.isdecimal() or len(id) > 16 for id in sent):
        raise BadInput(Message("error.no_such_entry"), "id")
    return [int(id) for id in sent]


@accepts_form({"view": MARKABLE_VIEW_FIELD, "age": one_of("", *AGES), "up_to": NUMBER.optional})
async def mark_view_read(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, now = the_app(request), datetime.now(UTC)
    address = read_view(form_text(sent, "view"))
    opened = await open_view(request, caller.user.id, address)
    age = AGES.get(form_text(sent, "age"))
    before = now - age if age else None
    wanted = MarkAllRead(opened.scope, before, _up_to(sent), opened.since, whole_stories=opened.stories_once)
    result = await mark_all_read(app.db, caller.user.id, wanted, now)
    return await answer_with_message(request, caller.user, address.path, many_marked("list.marked_all", result))


@accepts_form(
    {
        "view": VIEW_FIELD,
        "order": one_of(*EntryOrder),
        "entry": NUMBER,
        "side": one_of("above", "below"),
        "up_to": NUMBER.optional,
    }
)
async def mark_side_of_entry(request: Request) -> Response:
    """Marks all of a view that stands above or below an entry, whether the page has loaded it or not."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db, address = the_app(request).db, read_view(form_text(sent, "view"))
    opened = await open_view(request, caller.user.id, address)
    within = opened.wanted(ListFilter("all", EntryOrder(form_text(sent, "order"))))
    [entry_id], up_to = _ids([form_text(sent, "entry")]), _up_to(sent)
    above, now = form_text(sent, "side") == "above", datetime.now(UTC)
    result = await mark_side_read(db, caller.user.id, within, entry_id, now, above=above, up_to=up_to)
    return await answer_with_message(request, caller.user, address.path, many_marked("list.marked_all", result))


def many_marked(key: str, result: MarkAllReadResult) -> FlashMessage:
    """How many were marked, with the chance to undo it."""
    return flash_success(key, result.undo, n=result.marked) if result.marked else flash_success("list.marked_none")


async def answer_with_message(request: Request, user: User, path: str, message: FlashMessage) -> Response:
    """Scripts get the message with the counts, forms the page with it."""
    if not _wants_json(request):
        return redirect(path, message)
    text = message.text(translator_and_dates(request)[0])
    return await sidebar_counts_response(request, user, message=text, undo=message.undo)


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _up_to(sent: FormData) -> int | None:
    return _ids([form_text(sent, "up_to")])[0] if sent.get("up_to") else None


@accepts_form({"undo": matching(r"[0-9a-f]{32}"), "next": NEXT_PATH})
async def undo_mark_all(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    await undo_mark_all_read(the_app(request).db, caller.user.id, form_text(sent, "undo"), datetime.now(UTC))
    return await answer_with_message(request, caller.user, local_path(sent.get("next")), flash_success("list.undone"))


routes = [
    Route("/marks", mark_entries, methods=["POST"]),
    Route("/mark-all-read", mark_view_read, methods=["POST"]),
    Route("/mark-side-read", mark_side_of_entry, methods=["POST"]),
    Route("/undo", undo_mark_all, methods=["POST"]),
]
