"""What every page is made with: who asks, what they sent, and the answer in the frame."""

import re
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from feedmill import __version__
from feedmill.app import App
from feedmill.errors import BadInput, NotSignedIn
from feedmill.library.accounts import needs_setup
from feedmill.model.account import Caller
from feedmill.model.sizes import size_in_words
from feedmill.serve import csrf
from feedmill.serve.auth import visitor_of
from feedmill.serve.bodies import with_limit
from feedmill.serve.cookies import session_of
from feedmill.serve.web import flash
from feedmill.serve.web.assets import asset_url
from feedmill.serve.web.flash import Said
from feedmill.serve.web.frame import FEED_SCREENS, FOLDED_COOKIE, load_frame
from feedmill.serve.web.habits import habits_of
from feedmill.serve.web.keymap import swapped
from feedmill.serve.web.look import CHOICES, ZONE_COOKIE, language_of, look_of
from feedmill.serve.web.moments import Moments, zone_named
from feedmill.serve.web.safety import ORIGINALS
from feedmill.serve.web.telling import tell
from feedmill.serve.web.words import LANGUAGES, Words, words
from feedmill.serve.work import Work

MOST_FIELDS = 2000
MOST_FORM_BYTES = 2_000_000

# Python knows codecs that yield what no database keeps, or that end in errors of their own.
_UTF_8 = re.compile(r"(?:(?!charset).)*(?:charset=\"?utf-8\"?\s*(?:;(?:(?!charset).)*)?)?", re.I | re.S)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")


class SignInFirst(NotSignedIn):
    """The page needs somebody; `to` is where they sign in."""

    def __init__(self, to: str) -> None:
        super().__init__("sign in first")
        self.to = to


def the_app(request: Request) -> App:
    app: App = request.app.state.app
    return app


def the_work(request: Request) -> Work:
    work: Work = request.app.state.work
    return work


async def signed_in(request: Request) -> Caller:
    """Whoever asks; sends others to sign in and back, or to the first run."""
    caller = await visitor_of(request)
    if caller is None:
        if await needs_setup(the_app(request).db):
            raise SignInFirst("/setup")
        raise SignInFirst(f"/login?next={quote(_address(request))}")
    request.state.caller = caller
    return caller


def _address(request: Request) -> str:
    """The page that was asked for; the list to start with when it was a change that must not be repeated."""
    if request.method != "GET":
        return "/"
    # Not what the Host header makes of it; and two slashes at the beginning would be another server.
    path = "/" + str(request.scope["path"]).lstrip("/\\")
    return path + (f"?{request.url.query}" if request.url.query else "")


async def form(request: Request, most_bytes: int = MOST_FORM_BYTES) -> FormData:
    """What was sent, if it comes from a page of ours; for people who are signed in by `signed_in` before."""
    csrf.refuse_other_sites(request)
    limited = with_limit(request, most_bytes, f"a form may have at most {most_bytes // 1_000_000} MB")
    if not _UTF_8.fullmatch(request.headers.get("content-type", "")):
        raise BadInput("a form is sent in UTF-8")
    sent = await limited.form(max_fields=MOST_FIELDS, max_part_size=most_bytes)
    if getattr(request.state, "caller", None) is not None:
        csrf.check(request, text(sent, csrf.FIELD))
    # No browser sends it, and PostgreSQL keeps it in no text.
    if any("\0" in value for _, value in sent.multi_items() if isinstance(value, str)):
        raise BadInput("a form has no NUL in it")
    return sent


def text(sent: FormData, name: str) -> str:
    """A field's text; empty when it was not sent."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""


def go(path: str, said: Said | None = None) -> Response:
    """The answer to a form: see this page, with a message on it."""
    response = RedirectResponse(path, 303)
    if said is not None:
        flash.put(response, said)
    return response


async def show(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page: the template with the frame's values and these. `active` names the sidebar's current view."""
    if look_of(request).originals == "yes":
        request.scope[ORIGINALS] = True
    caller: Caller | None = getattr(request.state, "caller", None)
    folded = request.cookies.get(FOLDED_COOKIE, "")
    frame = await load_frame(the_app(request).db, caller.user, folded) if caller else None
    said = flash.take(request, speech(request)[0])
    response = render(request, template, status, frame=frame, said=said, **values)
    if said is not None:
        flash.clear(response)
    return response


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """The template alone, without what the frame would load: for fragments."""
    return HTMLResponse(environment().get_template(template).render(_values(request) | values), status)


def speech(request: Request) -> tuple[Words, Moments]:
    """The words and the times of the reader: `t` and `when` of templates."""
    t = words(language_of(request))
    zone = habits_of(request).zone or request.cookies.get(ZONE_COOKIE, "")
    return t, Moments(t, zone_named(zone), datetime.now(UTC))


def midnight(request: Request) -> datetime:
    """When the reader's day began."""
    _, when = speech(request)
    return when.midnight


def _values(request: Request) -> dict[str, Any]:
    caller: Caller | None = getattr(request.state, "caller", None)
    session = session_of(request)
    t, when = speech(request)
    return {
        "t": t,
        "when": when,
        "look": look_of(request),
        "habits": habits_of(request),
        "swapped": swapped(request),
        "user": caller.user if caller else None,
        "csrf": csrf.token_for(session) if caller and session else "",
        "here": _address(request),
        "active": request.url.path,
        "frame": None,
        "said": None,
    }


def lang_attribute(language: str | None) -> Markup:
    """` lang="de"` for what a feed calls its language; nothing when it is no name of one."""
    if not language or not _LANGUAGE.fullmatch(language):
        return Markup("")
    return Markup(' lang="{}"').format(language)


@cache
def environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("feedmill.serve.web"), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    made.globals |= {"asset": asset_url, "version": __version__, "choices": CHOICES, "languages": LANGUAGES}
    made.globals |= {"feed_screens": FEED_SCREENS, "tell": tell}
    made.filters["lang"] = lang_attribute
    made.filters["size"] = size_in_words
    return made
