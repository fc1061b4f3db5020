"""Theme, language, density and typography of this device, stored in a cookie.

Where the device has no value of its own, the preference of the account is used.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from feedmill.i18n.catalogue import language_names
from feedmill.library.users.own_css import PREFERENCE
from feedmill.serve.web.core.preferences import stored_preferences

APPEARANCE_COOKIE = "feedmill_appearance"
A_YEAR = 365 * 86400
# One's own CSS; the version in its URL is its digest. `?css=off` shows any page without it.
CSS_PATH = "/appearance/own.css"
CSS_VERSION = "v"
CSS_SWITCH = "css"

APPEARANCE_VALUES: Mapping[str, tuple[str, ...]] = {
    "theme": ("system", "light", "dark", "black", "sepia", "contrast"),
    "language": ("auto", *language_names()),
    "density": ("titles", "compact", "cards", "full"),
    "font": ("serif", "sans", "system"),
    "size": ("1", "2", "3", "4", "5"),
    "width": ("narrow", "medium", "wide"),
    "lines": ("tight", "normal", "loose"),
    "justify": ("no", "yes"),
    "originals": ("no", "yes"),
}


@dataclass(frozen=True, slots=True)
class Appearance:
    theme: str = "system"
    language: str = "auto"
    density: str = "compact"
    font: str = "serif"
    size: str = "3"
    width: str = "medium"
    lines: str = "normal"
    justify: str = "no"
    originals: str = "no"

    def changed(self, values: Mapping[str, str]) -> "Appearance":
        """A copy with those of the given values that are valid."""
        return replace(
            self, **{name: values[name] for name in APPEARANCE_VALUES if values.get(name) in APPEARANCE_VALUES[name]}
        )


DEFAULT_APPEARANCE = Appearance()


def appearance_of(request: Request) -> Appearance:
    return _account_appearance(request).changed(dict(parse_qsl(request.cookies.get(APPEARANCE_COOKIE, ""))))


def own_css_digest(request: Request) -> str:
    """The digest of the user's own CSS; empty if there is none."""
    return stored_preferences(request).get(PREFERENCE, "")


def own_css_url(request: Request) -> str:
    """The URL of the user's own CSS; empty if there is none, or if the page is shown without it."""
    is_off = request.query_params.get(CSS_SWITCH) == "off" or getattr(request.state, "without_own_css", False)
    digest = "" if is_off else own_css_digest(request)
    return f"{CSS_PATH}?{CSS_VERSION}={digest}" if digest else ""


def _account_appearance(request: Request) -> Appearance:
    return DEFAULT_APPEARANCE.changed(stored_preferences(request))


def save_appearance(request: Request, response: Response, appearance: Appearance) -> None:
    """Stores in the device's cookie what differs from the preferences of the account."""
    defaults = _account_appearance(request)
    differing = {name: value for name, value in asdict(appearance).items() if value != getattr(defaults, name)}
    response.set_cookie(
        APPEARANCE_COOKIE, urlencode(differing), A_YEAR, secure=request.url.scheme == "https", httponly=True
    )
