"""`/search`: entries found by the search language; `/searches`: those that are kept as views."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict, NotFound
from feedmill.library.folders import find_folder
from feedmill.library.labels import find_label
from feedmill.library.passages import with_passages
from feedmill.library.search import Asked, keep_search, read_search, search
from feedmill.library.search_hints import looser, words_to_mark
from feedmill.library.search_tokens import MOST_CHARACTERS, BadSearch
from feedmill.library.subscriptions import find_subscription
from feedmill.model.account import User
from feedmill.serve.web.flash import say
from feedmill.serve.web.ids import MOST, path_id
from feedmill.serve.web.page import form, go, render, show, signed_in, text, the_app
from feedmill.serve.web.problems import is_partial
from feedmill.serve.web.searching import PATH, Question, Results, Within, marked_entry, search_path
from feedmill.serve.web.views import parse_view
from feedmill.store.database import Database
from feedmill.store.saved_searches import drop_search, saved_searches_of

ROWS = 50
LONGEST_CURSOR = 200
LONGEST_NAME = 190
MOST_SUGGESTIONS = 3
MOST_TRIED = 6
NOTHING_YET: Mapping[str, Any] = {"results": None, "mistake": None, "suggestions": [], "name": "", "wrong": ""}
# What can be asked, each with the end of its words' key.
EXAMPLES = (
    ("river mill", "words"), ('"old mill"', "phrase"), ("mill -coffee", "not"), ("larch OR oak", "or"),
    ("in:title wheel", "title"), ("feed:notes", "feed"), ("#recipes", "label"), ("is:unread is:starred", "state"),
    ("has:image", "has"), ("after:2026-01", "date"), ("lang:zh", "lang"), ("site:example.org", "site"),
    ("水闸", "cjk"),
)  # fmt: skip


async def see(request: Request) -> Response:
    caller = await signed_in(request)
    asked = request.query_params
    within = await _within(the_app(request).db, caller.user.id, asked.get("in", ""))
    question = Question(_plain(asked.get("q", "")), "date" if asked.get("order") == "date" else "rank", within)
    if not question.text:
        return await _shown(request, caller.user, question)
    try:
        results = await _find(request, caller.user, question)
    except BadSearch as mistake:
        return await _shown(request, caller.user, question, 422, mistake=mistake)
    if is_partial(request):
        return render(request, "parts/more_rows.html", listing=results)
    suggestions = [] if results.items or not results.is_first else await _suggestions(request, caller.user, question)
    return await _shown(request, caller.user, question, results=results, suggestions=suggestions)


async def keep(request: Request) -> Response:
    """Keeps a search as a view of the sidebar."""
    caller = await signed_in(request)
    sent = await form(request)
    db, user_id = the_app(request).db, caller.user.id
    question = Question(_plain(text(sent, "q")), within=await _within(db, user_id, text(sent, "in")))
    await read_search(db, user_id, question.whole, datetime.now(UTC))
    name = " ".join(text(sent, "name").split())
    try:
        await keep_search(db, user_id, _named(name), question.whole)
    except (BadInput, Conflict) as error:
        results = await _find(request, caller.user, question)
        wrong = "search.name_exists" if isinstance(error, Conflict) else "search.bad_name"
        return await _shown(request, caller.user, question, 422, results=results, name=name, wrong=wrong)
    return go(search_path(question.whole), say("search.kept", name=name))


async def forget(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await form(request)
    if not await drop_search(the_app(request).db, caller.user.id, path_id(request)):
        raise NotFound("there is no such search")
    asked = _plain(text(sent, "q"))
    return go(search_path(asked) if asked else PATH, say("search.forgotten"))


def _plain(written: str) -> str:
    """One line, at most one character longer than may be."""
    return "".join(letter if letter.isprintable() else " " for letter in written).strip()[: MOST_CHARACTERS + 1]


def _named(name: str) -> str:
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput("a search is kept under a name", "name")
    return name


async def _within(db: Database, user_id: int, path: str) -> Within | None:
    """The feed, folder or label of that path; `NotFound` when it is not the user's."""
    address = parse_view(path)
    if address.id is None:
        return None
    if address.id >= MOST:
        raise NotFound("there is no such view")
    if address.kind == "feed":
        return Within(address, (await find_subscription(db, user_id, address.id)).title)
    if address.kind == "folder":
        return Within(address, (await find_folder(db, user_id, address.id)).name)
    return Within(address, (await find_label(db, user_id, address.id))["name"])


async def _find(request: Request, user: User, question: Question) -> Results:
    cursor = request.query_params.get("cursor", "")[:LONGEST_CURSOR] or None
    asked = Asked(question.text, question.order, cursor, ROWS, question.narrowed)
    db, words = the_app(request).db, words_to_mark(question.text)
    found = await search(db, user.id, asked, datetime.now(UTC))
    items = [marked_entry(entry, words) for entry in await with_passages(db, found.items, words)]
    return Results(items, question.at(cursor=found.next) if found.next else None, cursor is None)


async def _suggestions(request: Request, user: User, question: Question) -> list[tuple[str, str]]:
    """Searches nearby that do find something, each with its address."""
    db, now = the_app(request).db, datetime.now(UTC)
    places = [question, Question(question.text, question.order)] if question.within else [question]
    tried = [Question(one, question.order, place.within) for place in places for one in looser(question.text)]
    found: list[tuple[str, str]] = []
    for near in [*places[1:], *tried][:MOST_TRIED]:
        asked = Asked(near.text, near.order, most=1, within=near.narrowed)
        if len(found) < MOST_SUGGESTIONS and (await search(db, user.id, asked, now)).items:
            found.append((near.text, near.at()))
    return found


async def _shown(request: Request, user: User, question: Question, status: int = 200, **more: Any) -> Response:
    """The page; `more` is what is known beyond `NOTHING_YET`."""
    saved = await saved_searches_of(the_app(request).db, user.id)
    kept = next((row for row in saved if row["query"] == question.whole), None)
    active = search_path(question.whole) if question.text else PATH
    values = dict(NOTHING_YET) | more | {"question": question, "saved": saved, "kept": kept, "examples": EXAMPLES}
    return await show(request, "search.html", status, active=active, **values)


routes = [
    Route(PATH, see, methods=["GET"]),
    Route("/searches", keep, methods=["POST"]),
    Route("/searches/{id:int}/delete", forget, methods=["POST"]),
]
