"""`/settings/output-feeds`: creates, lists and revokes output feeds."""

from datetime import UTC, datetime
from itertools import groupby

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, CallerError, LimitExceeded, NotFound
from feedmill.i18n.translator import Translator
from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat, announcing_hub
from feedmill.library.output_feeds.find_list import OutputListName, available_lists, find_list_name
from feedmill.library.output_feeds.manage_output_feeds import (
    create_output_feed,
    list_output_feeds,
    revoke_output_feed,
)
from feedmill.model.syndication.output_feed import OutputFeed, OutputList, OutputListKind, parse_output_list
from feedmill.model.user import Caller
from feedmill.serve.http.app_images import site_of
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.flash import flash_success
from feedmill.serve.web.core.form_fields import CHECKBOX, TEXT, FormField, accepts_form
from feedmill.serve.web.core.localization import translator_and_dates
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import redirect
from feedmill.serve.web.core.render_page import render_page

OUTPUT_FEEDS_PATH = "/settings/output-feeds"
LIST_FIELD = FormField(lambda value: parse_output_list(value) is not None)

NamedLists = list[tuple[str, list[tuple[str, str]]]]
"""Groups of lists: the text of each, and pairs of the list's own name and its title."""


async def show_output_feeds(request: Request) -> Response:
    """The page; `?list=folder/3` chooses the list of a new feed."""
    await signed_in(request)
    return await _show(request, wanted=parse_output_list(request.query_params.get("list", "")))


@accepts_form({"list": LIST_FIELD, "name": TEXT, "announce": CHECKBOX})
async def create_feed(request: Request) -> Response:
    """Creates an output feed and shows its addresses: the secret is not stored, so no later page could."""
    caller, app = await signed_in(request), the_app(request)
    sent = await checked_form(request)
    wanted, name = parse_output_list(form_text(sent, "list")), form_text(sent, "name").strip()
    assert wanted is not None
    announces = bool(form_text(sent, "announce")) and bool(announcing_hub(app.settings))
    encryption = app.tools.encryption if announces else None
    t, _ = translator_and_dates(request)
    try:
        own_name = await find_list_name(app.db, caller, wanted) or t(f"output_list.{wanted.kind}")
        now = datetime.now(UTC)
        secret, feed = await create_output_feed(app.db, caller, wanted, name or own_name, now, encryption)
    except (BadInput, LimitExceeded, NotFound) as error:
        return await _show(request, error=error, wanted=wanted, name=name)
    return await _show(request, made=(secret, feed))


@accepts_form({})
async def revoke_feed(request: Request) -> Response:
    caller = await signed_in(request)
    await checked_form(request)
    await revoke_output_feed(the_app(request).db, caller, path_id(request), datetime.now(UTC))
    return redirect(OUTPUT_FEEDS_PATH, flash_success("output_feeds.revoked"))


async def _show(
    request: Request,
    error: CallerError | None = None,
    wanted: OutputList | None = None,
    name: str = "",
    made: tuple[str, OutputFeed] | None = None,
) -> Response:
    caller, app = request.state.caller, the_app(request)
    t, _ = translator_and_dates(request)
    lists = await _lists(request, caller, wanted)
    urls = [OutputAddress(site_of(request), made[0], each).url for each in OutputFormat] if made else []
    return await render_page(
        request,
        "output_feeds/output_feeds.html",
        422 if error else 200,
        active="/settings",
        error=error.message if error else None,
        wrong_field="name" if isinstance(error, BadInput) else "list",
        made=made,
        urls=urls,
        feeds=await list_output_feeds(app.db, caller, datetime.now(UTC)),
        titles={list_name: title for _, group in _grouped(lists, t) for list_name, title in group},
        lists=_grouped(lists, t),
        wanted=wanted.name if wanted else "",
        name=name,
        hub_url=announcing_hub(app.settings),
    )


async def _lists(request: Request, caller: Caller, wanted: OutputList | None) -> list[OutputListName]:
    """The lists to choose from: a single feed is one of them only if it is asked for."""
    found = await available_lists(the_app(request).db, caller)
    if wanted is None or wanted.kind is not OutputListKind.FEED:
        return found
    try:
        title = await find_list_name(the_app(request).db, caller, wanted)
    except NotFound:
        return found
    return [*found, OutputListName(wanted, title)]


def _grouped(lists: list[OutputListName], t: Translator) -> NamedLists:
    """The lists with titles, by the kind of those that have a name of their own."""
    return [
        (kind, [(each.list.name, each.name or t(f"output_list.{each.list.kind}")) for each in group])
        for kind, group in groupby(lists, key=lambda each: str(each.list.kind) if each.list.id else "")
    ]


routes = [
    Route(OUTPUT_FEEDS_PATH, show_output_feeds, methods=["GET"]),
    Route(OUTPUT_FEEDS_PATH, create_feed, methods=["POST"]),
    Route(f"{OUTPUT_FEEDS_PATH}/{{id:int}}/revoke", revoke_feed, methods=["POST"]),
]
