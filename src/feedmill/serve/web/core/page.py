"""Renders pages with Jinja, reads checked forms, and requires a signed-in user."""

import re
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
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
from feedmill.i18n.catalogue import LANGUAGES, Translator, translator
from feedmill.i18n.dates import DateFormatter, time_zone
from feedmill.i18n.explanations import render_explanation
from feedmill.library.jobs.job_port import JobPort
from feedmill.library.users.manage_users import needs_setup
from feedmill.model.byte_sizes import format_bytes
from feedmill.model.user import Caller
from feedmill.serve.http import csrf
from feedmill.serve.http.auth import session_caller_of
from feedmill.serve.http.body_limits import with_body_limit
from feedmill.serve.http.cookies import session_token_of
from feedmill.serve.http.security_headers import ALLOW_REMOTE_IMAGES
from feedmill.serve.web.core import flash
from feedmill.serve.web.core.appearance import APPEARANCE_VALUES, ZONE_COOKIE, appearance_of, language_of
from feedmill.serve.web.core.assets import asset_url
from feedmill.serve.web.core.flash import FlashMessage
from feedmill.serve.web.core.form_fields import DECLARED_FORMS, check_form
from feedmill.serve.web.core.frame import CLOSED_FOLDERS_COOKIE, FEED_SCREENS, load_frame
from feedmill.serve.web.core.keymap import key_translations
from feedmill.serve.web.core.preferences import user_preferences_of

MAX_FIELDS = 2000
MAX_FORM_BYTES = 2_000_000

# Other charsets are refused: some Python codecs produce text that no database can store, or raise unusual errors.
_UTF_8 = re.compile(r"(?:(?!charset).)*(?:charset=\"?utf-8\"?\s*(?:;(?:(?!charset).)*)?)?", re.I | re.S)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8}){0,4}")


class SignInRequired(NotSignedIn):
    """The page needs a signed-in user; `to` is the path of the sign-in page."""

    def __init__(self, to: str) -> None:
        super().__init__("sign in first")
        self.to = to


def the_app(request: Request) -> App:
    app: App = request.app.state.app
    return app


def the_jobs(request: Request) -> JobPort:
    work: JobPort = request.app.state.work
    return work


async def signed_in(request: Request) -> Caller:
    """The signed-in caller; redirects others to sign in and back, or to the setup of a new instance."""
    caller = await session_caller_of(request)
    if caller is None:
        if await needs_setup(the_app(request).db):
            raise SignInRequired("/setup")
        raise SignInRequired(f"/login?next={quote(_return_path(request))}")
    request.state.caller = caller
    return caller


def _return_path(request: Request) -> str:
    """The requested page, for the redirect after signing in; the start page for a request that changes something."""
    if request.method != "GET":
        return "/"
    # From the path, not the URL with its Host header; two leading slashes would mean another server.
    path = "/" + str(request.scope["path"]).lstrip("/\\")
    return path + (f"?{request.url.query}" if request.url.query else "")


async def checked_form(request: Request, max_bytes: int = MAX_FORM_BYTES) -> FormData:
    """The form of a request, if it comes from a page of ours and has the fields declared with `@accepts_form`.

    Checks the CSRF token if `signed_in` was called before.
    """
    csrf.refuse_other_sites(request)
    limited = with_body_limit(request, max_bytes, f"a form may have at most {max_bytes // 1_000_000} MB")
    if not _UTF_8.fullmatch(request.headers.get("content-type", "")):
        raise BadInput("a form is sent in UTF-8")
    sent = await limited.form(max_fields=MAX_FIELDS, max_part_size=max_bytes)
    if getattr(request.state, "caller", None) is not None:
        csrf.check_csrf_token(request, form_text(sent, csrf.FIELD))
    # No browser sends NUL, and PostgreSQL can't store it.
    if any("\0" in value for _, value in sent.multi_items() if isinstance(value, str)):
        raise BadInput("a form has no NUL in it")
    if request.query_params:
        raise BadInput("a form sends its fields in its body, not in its address")
    check_form(sent, DECLARED_FORMS[request.scope["endpoint"]])
    return sent


def form_text(sent: FormData, name: str) -> str:
    """The text of a field; empty when it was not sent."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""


def redirect(path: str, said: FlashMessage | None = None) -> Response:
    """Redirects to a page after a form, with a flash message."""
    response = RedirectResponse(path, 303)
    if said is not None:
        flash.set_flash(response, said)
    return response


async def render_page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a page: the template with the frame and these values. `active` is the current view in the sidebar."""
    if appearance_of(request).originals == "yes":
        request.scope[ALLOW_REMOTE_IMAGES] = True
    caller: Caller | None = getattr(request.state, "caller", None)
    folded = request.cookies.get(CLOSED_FOLDERS_COOKIE, "")
    frame = await load_frame(the_app(request).db, caller.user, folded) if caller else None
    said = flash.read_flash(request, translator_and_dates(request)[0])
    response = render_template(request, template, status, frame=frame, said=said, **values)
    if said is not None:
        flash.clear_flash(response)
    return response


def render_template(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Renders a template without the frame, for fragments."""
    return HTMLResponse(
        template_environment().get_template(template).render(_template_values(request) | values), status
    )


def translator_and_dates(request: Request) -> tuple[Translator, DateFormatter]:
    """The translator and date formatter of the user: `t` and `when` in templates."""
    t = translator(language_of(request))
    zone = user_preferences_of(request).zone or request.cookies.get(ZONE_COOKIE, "")
    return t, DateFormatter(t, time_zone(zone), datetime.now(UTC))


def start_of_day(request: Request) -> datetime:
    """The last midnight in the user's time zone."""
    _, when = translator_and_dates(request)
    return when.midnight


def _template_values(request: Request) -> dict[str, Any]:
    caller: Caller | None = getattr(request.state, "caller", None)
    session = session_token_of(request)
    t, when = translator_and_dates(request)
    return {
        "t": t,
        "when": when,
        "look": appearance_of(request),
        "habits": user_preferences_of(request),
        "swapped": key_translations(request),
        "user": caller.user if caller else None,
        "csrf": csrf.csrf_token_for(session) if caller and session else "",
        "here": _return_path(request),
        "active": request.url.path,
        "frame": None,
        "said": None,
    }


def lang_attribute(language: str | None) -> Markup:
    """` lang="de"` for the language that a feed declares; empty if it is not valid."""
    if not language or not _LANGUAGE.fullmatch(language):
        return Markup("")
    return Markup(' lang="{}"').format(language)


@cache
def template_environment() -> jinja2.Environment:
    """The Jinja environment. The template `feeds/edit.html` is the file `feeds/templates/edit.html`."""
    folders = [folder.name for folder in files("feedmill.serve.web").iterdir() if (folder / "templates").is_dir()]
    loaders = {name: jinja2.PackageLoader(f"feedmill.serve.web.{name}") for name in folders}
    environment = jinja2.Environment(
        loader=jinja2.PrefixLoader(loaders),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.globals |= {
        "asset": asset_url,
        "version": __version__,
        "choices": APPEARANCE_VALUES,
        "languages": LANGUAGES,
    }
    environment.globals |= {"feed_screens": FEED_SCREENS, "tell": render_explanation}
    environment.filters["lang"] = lang_attribute
    environment.filters["size"] = format_bytes
    return environment
