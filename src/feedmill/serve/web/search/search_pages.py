"""`/search` and `/searches`: searches entries, and saves and deletes searches."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, Conflict, NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import from_cursor
from feedmill.library.entries.labels import find_label
from feedmill.library.search.errors import BadSearch
from feedmill.library.search.query_hints import looser_searches, words_to_highlight
from feedmill.library.search.query_tokens import MOST_CHARACTERS
from feedmill.library.search.run_search import (
    MOST_COUNTED,
    SearchRequest,
    SearchResult,
    count_results,
    parse_search,
    run_search,
)
from feedmill.library.search.saved_searches import create_saved_search, drop_saved_search, saved_searches_of_user
from feedmill.library.search.snippets import add_snippets
from feedmill.library.stories.also_in import copies_of_entries, first_of_stories
from feedmill.library.subscriptions.folders import find_folder
from feedmill.library.subscriptions.lookup import find_subscription
from feedmill.model.max_id import MAX_ID
from feedmill.model.user import User
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import TEXT, accepts_form
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.preferences import shows_stories_once
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.entries.list_views import VIEW_FIELD, view_or_unread
from feedmill.serve.web.search.search_view import (
    PATH,
    SearchForm,
    SearchResults,
    SearchScope,
    highlight_entry,
    search_path,
)
from feedmill.store.database import Database

ROWS = 50
# Counting ends when search and count have taken this long: a common word among many millions of entries takes seconds.
COUNT_WITHIN = 0.25
MAX_CURSOR_LENGTH = 200
LONGEST_NAME = 190
MOST_SUGGESTIONS = 3
MOST_TRIED = 6
EMPTY_RESULT: Mapping[str, Any] = {"results": None, "mistake": None, "suggestions": [], "name": "", "wrong": ""}
# Examples of queries, each with the end of the key of its text.
EXAMPLES = (
    ("river mill", "words"),
    ('"old mill"', "phrase"),
    ("mill -coffee", "not"),
    ("larch OR oak", "or"),
    ("in:title wheel", "title"),
    ("feed:notes", "feed"),
    ("#recipes", "label"),
    ("is:unread is:starred", "state"),
    ("has:image", "has"),
    ("after:2026-01", "date"),
    ("lang:zh", "lang"),
    ("site:example.org", "site"),
    ("水闸", "cjk"),
)


async def show_search(request: Request) -> Response:
    caller = await signed_in(request)
    asked = request.query_params
    within = await _within(the_app(request).db, caller.user.id, asked.get("in", ""))
    question = SearchForm(_plain(asked.get("q", "")), "date" if asked.get("order") == "date" else "rank", within)
    if not question.text:
        return await _show_page(request, caller.user, question)
    try:
        results = await _find(request, caller.user, question)
    except BadSearch as mistake:
        return await _show(request, caller.user, question, 422, mistake=mistake)
    if is_fragment_request(request) and not results.is_first:
        return render_template(request, "entries/more_rows.html", listing=results)
    suggestions = [] if results.items or not results.is_first else await _suggestions(request, caller.user, question)
    return await _show(request, caller.user, question, results=results, suggestions=suggestions)


@accepts_form({"q": TEXT, "in": VIEW_FIELD.or_empty.optional, "name": TEXT})
async def save_search(request: Request) -> Response:
    """Saves a search, which the sidebar then shows."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    db, user_id = the_app(request).db, caller.user.id
    question = SearchForm(_plain(form_text(sent, "q")), within=await _within(db, user_id, form_text(sent, "in")))
    await parse_search(db, user_id, question.whole, datetime.now(UTC))
    name = " ".join(form_text(sent, "name").split())
    try:
        await create_saved_search(db, user_id, _named(name), question.whole)
    except (BadInput, Conflict) as error:
        results = await _find(request, caller.user, question)
        wrong = "search.name_exists" if isinstance(error, Conflict) else "search.bad_name"
        return await _show_page(request, caller.user, question, 422, results=results, name=name, wrong=wrong)
    return redirect(search_path(question.whole), flash_success("search.kept", name=name))


@accepts_form({"q": TEXT.optional})
async def delete_saved_search(request: Request) -> Response:
    caller = await signed_in(request)
    sent = await checked_form(request)
    await drop_saved_search(the_app(request).db, caller.user.id, path_id(request))
    asked = _plain(form_text(sent, "q"))
    return redirect(search_path(asked) if asked else PATH, flash_success("search.forgotten"))


def _plain(written: str) -> str:
    """The query on one line, cut one character beyond the limit, so that the parser can refuse it."""
    return "".join(letter if letter.isprintable() else " " for letter in written).strip()[: MOST_CHARACTERS + 1]


def _named(name: str) -> str:
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(Message("error.search_without_name"), "name")
    return name


async def _within(db: Database, user_id: int, path: str) -> SearchScope | None:
    """The feed, folder or label of that path; raises `NotFound` if it is not the user's."""
    address = view_or_unread(path)
    if address.id is None:
        return None
    if address.id > MAX_ID:
        raise NotFound(Message("error.no_such_view"))
    if address.kind == "feed":
        return SearchScope(address, (await find_subscription(db, user_id, address.id)).title)
    if address.kind == "folder":
        return SearchScope(address, (await find_folder(db, user_id, address.id)).name)
    return SearchScope(address, (await find_label(db, user_id, address.id)).name)


async def _find(request: Request, user: User, question: SearchForm) -> SearchResults:
    cursor = request.query_params.get("cursor", "")[:MAX_CURSOR_LENGTH] or None
    asked = SearchRequest(question.text, question.order, cursor, ROWS, question.narrowed)
    db, words = the_app(request).db, words_to_highlight(question.text)
    started = time.monotonic()
    found = await run_search(db, user.id, asked, datetime.now(UTC))
    once = shows_stories_once(request)
    copies = await copies_of_entries(db, user.id, [entry.id for entry in found.items]) if once else {}
    listed = await add_snippets(db, first_of_stories(found.items, copies), words)
    items = [highlight_entry(entry, words) for entry in listed]
    more, has_days = question.at(cursor=found.next) if found.next else None, question.order == "date"
    beyond = from_cursor(cursor) if cursor and has_days else None
    seconds = COUNT_WITHIN - (time.monotonic() - started)
    total, counted = (None, 0) if cursor else await _total(db, user, asked, found, seconds)
    return SearchResults(items, more, cursor is None, total, counted, beyond=beyond, has_days=has_days, copies=copies)


async def _total(
    db: Database, user: User, asked: SearchRequest, found: SearchResult, seconds: float
) -> tuple[int, int]:
    """How many entries match a search whose first page is known, and how many were counted at most."""
    if found.next is None:
        return len(found.items), MOST_COUNTED
    total = await count_results(db, user.id, asked, datetime.now(UTC), seconds)
    return (len(found.items) + 1, len(found.items)) if total is None else (total, MOST_COUNTED)


async def _suggestions(request: Request, user: User, question: SearchForm) -> list[tuple[str, str]]:
    """Similar searches that find something, each with its URL."""
    db, now = the_app(request).db, datetime.now(UTC)
    places = [question, SearchForm(question.text, question.order)] if question.within else [question]
    tried = [
        SearchForm(one, question.order, place.within) for place in places for one in looser_searches(question.text)
    ]
    found: list[tuple[str, str]] = []
    for near in [*places[1:], *tried][:MOST_TRIED]:
        asked = SearchRequest(near.text, near.order, most=1, within=near.narrowed)
        if len(found) < MOST_SUGGESTIONS and (await run_search(db, user.id, asked, now)).items:
            found.append((near.text, near.at()))
    return found


async def _show(request: Request, user: User, question: SearchForm, status: int = 200, **more: Any) -> Response:
    """The page, or only what was found for a search over a list; `more` is what is known beyond `EMPTY_RESULT`."""
    if not is_fragment_request(request):
        return await _show_page(request, user, question, status, **more)
    values = dict(EMPTY_RESULT) | more | {"question": question}
    return render_template(request, "search/results.html", status, **values)


async def _show_page(request: Request, user: User, question: SearchForm, status: int = 200, **more: Any) -> Response:
    """The page; `more` overrides values of `EMPTY_RESULT`."""
    saved = await saved_searches_of_user(the_app(request).db, user.id)
    kept = next((search for search in saved if search.query == question.whole), None)
    active = search_path(question.whole) if question.text else PATH
    values = dict(EMPTY_RESULT) | more | {"question": question, "saved": saved, "kept": kept, "examples": EXAMPLES}
    return await render_page(request, "search/search.html", status, active=active, **values)


routes = [
    Route(PATH, show_search, methods=["GET"]),
    Route("/searches", save_search, methods=["POST"]),
    Route("/searches/{id:int}/delete", delete_saved_search, methods=["POST"]),
]
