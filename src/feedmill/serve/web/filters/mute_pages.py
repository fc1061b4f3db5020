"""`/muted` and `/item/n/mute`: mutes or follows a word, an author or a site, and lists what is muted."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from feedmill.errors import BadInput, LimitExceeded
from feedmill.i18n.messages import Message
from feedmill.library.entries.article import find_entry
from feedmill.library.filters.filter_jobs import apply_backwards
from feedmill.library.filters.manage_filters import filters_of_user
from feedmill.library.filters.mutes import (
    FilterPeriod,
    FormerPeriod,
    MuteResult,
    change_until,
    follow,
    mute,
    restore_period,
)
from feedmill.model.filters.entry_filter import FilterKind, FilterSubject, SubjectKind
from feedmill.model.timestamps import from_iso, to_iso
from feedmill.model.user import Caller
from feedmill.serve.web.core.app_state import the_app
from feedmill.serve.web.core.current_user import signed_in
from feedmill.serve.web.core.error_pages import is_fragment_request
from feedmill.serve.web.core.flash import FlashMessage, flash_error, flash_success
from feedmill.serve.web.core.form_fields import (
    CHECKBOX,
    NEXT_PATH,
    NUMBER,
    TEXT,
    FormField,
    accepts_form,
    matching,
    one_of,
)
from feedmill.serve.web.core.path_ids import path_id
from feedmill.serve.web.core.read_form import checked_form, form_text
from feedmill.serve.web.core.redirects import local_path, redirect
from feedmill.serve.web.core.render_page import render_page, render_template
from feedmill.serve.web.filters.filter_choices import load_choices
from feedmill.serve.web.filters.filter_list import FILTERS_PATH

MUTED_PATH = "/muted"
SUBJECT_KINDS: Mapping[str, SubjectKind] = {"word": "word", "author": "author", "site": "site"}
PERIODS = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30), "for_good": None}
PERIOD = one_of(*PERIODS)
KIND = one_of(FilterKind.MUTE, FilterKind.FOLLOW)


def _is_time(text: str) -> bool:
    try:
        return to_iso(from_iso(text)) == text
    except (ValueError, OverflowError):
        return False


async def list_muted(request: Request) -> Response:
    caller = await signed_in(request)
    return await _show(request, caller)


@accepts_form({"do": KIND, "kind": one_of(*SUBJECT_KINDS), "text": TEXT, "period": PERIOD, "stored": CHECKBOX})
async def add_muted(request: Request) -> Response:
    """Adds what is written in the form of the page."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    try:
        made = await _mute(request, caller, sent, SUBJECT_KINDS[form_text(sent, "kind")], form_text(sent, "text"))
        message = _message(request, made.result, form_text(sent, "period"))
    except (BadInput, LimitExceeded) as error:
        return await _show(request, caller, error.message, form_text(sent, "text"), 422)
    return redirect(MUTED_PATH, message)


@accepts_form(
    {
        "do": KIND,
        "subject": matching(r"(?:(?:word|author|site):.{1,500})?").optional,
        "text": TEXT,
        "period": PERIOD,
        "stored": CHECKBOX,
        "next": NEXT_PATH,
    }
)
async def mute_from_article(request: Request) -> Response:
    """Mutes or follows what was chosen of an article (`subject`), or the words that were written (`text`)."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    await find_entry(the_app(request).db, caller.user.id, path_id(request))
    kind, _, chosen = form_text(sent, "subject").partition(":")
    made: StartedMute | None = None
    try:
        made = await _mute(request, caller, sent, SUBJECT_KINDS[kind or "word"], chosen or form_text(sent, "text"))
        message = _message(request, made.result, form_text(sent, "period"))
    except BadInput:
        message = flash_error("mute.bad_text")
    except LimitExceeded:
        message = flash_error("mute.too_many")
    if is_fragment_request(request):
        return render_template(request, "filters/mute_toast.html", message=message, made=made)
    return redirect(local_path(sent.get("next")), message)


@accepts_form({"period": PERIOD})
async def change_period(request: Request) -> Response:
    """Changes until when it holds, counted from now."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, now = the_app(request), the_app(request).tools.clock()
    await change_until(app.db, caller.user.id, path_id(request), _until(form_text(sent, "period"), now), now)
    return redirect(MUTED_PATH, flash_success("mute.changed"))


@accepts_form(
    {
        "until": FormField(_is_time).or_empty,
        "enabled": CHECKBOX,
        "job": NUMBER.optional,
        "next": NEXT_PATH,
    }
)
async def restore(request: Request) -> Response:
    """Takes back a change by muting the same again: it holds as before."""
    caller = await signed_in(request)
    sent = await checked_form(request)
    app, until, job = the_app(request), form_text(sent, "until"), form_text(sent, "job")
    former = FormerPeriod(
        from_iso(until) if until else None, bool(form_text(sent, "enabled")), int(job) if job else None
    )
    own = await restore_period(app.db, caller.user.id, path_id(request), former, app.tools.clock())
    message = flash_success("mute.restored", text=own.name)
    if is_fragment_request(request):
        return render_template(request, "filters/mute_toast.html", message=message, made=None)
    return redirect(local_path(sent.get("next"), MUTED_PATH), message)


class StartedMute(NamedTuple):
    """What was muted or followed, and the job that applies it to stored entries."""

    result: MuteResult
    job_id: int | None


async def _mute(request: Request, caller: Caller, sent: FormData, kind: SubjectKind, text: str) -> StartedMute:
    app, now = the_app(request), the_app(request).tools.clock()
    add = mute if form_text(sent, "do") == FilterKind.MUTE else follow
    period = FilterPeriod(_until(form_text(sent, "period"), now))
    result = await add(app.db, caller.user.id, FilterSubject(kind, text), now, period)
    if not form_text(sent, "stored"):
        return StartedMute(result, None)
    return StartedMute(result, (await apply_backwards(app.db, caller.user.id, result.filter.id, now)).id)


def _until(period: str, now: datetime) -> datetime | None:
    length = PERIODS[period]
    return now + length if length else None


def _message(request: Request, result: MuteResult, period: str) -> FlashMessage:
    """Says so if it held already, and if it held for good and now ends."""
    own, before, how = result.filter, result.before, ""
    if before and before.enabled and not before.is_expired(the_app(request).tools.clock()):
        how = "_only" if before.expires_at is None and own.expires_at else "_again"
    done = "muted" if own.kind is FilterKind.MUTE else "followed"
    return flash_success(f"mute.{done}{how}_{period}", text=own.name)


async def _show(
    request: Request, caller: Caller, problem: Message | None = None, text: str = "", status: int = 200
) -> Response:
    app = the_app(request)
    found = await filters_of_user(app.db, caller.user.id)
    return await render_page(
        request,
        "filters/muted.html",
        status,
        active=FILTERS_PATH,
        muted=[each for each in found if each.kind is FilterKind.MUTE],
        followed=[each for each in found if each.kind is FilterKind.FOLLOW],
        choices=await load_choices(request, caller),
        periods=tuple(PERIODS),
        kinds=tuple(SUBJECT_KINDS),
        problem=problem,
        text=text,
        now=app.tools.clock(),
    )


routes = [
    Route(MUTED_PATH, list_muted, methods=["GET"]),
    Route(MUTED_PATH, add_muted, methods=["POST"]),
    Route(f"{MUTED_PATH}/{{id:int}}", change_period, methods=["POST"]),
    Route(f"{MUTED_PATH}/{{id:int}}/restore", restore, methods=["POST"]),
    Route("/item/{id:int}/mute", mute_from_article, methods=["POST"]),
]
