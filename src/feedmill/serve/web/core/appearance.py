"""Theme, language, density and typography of this device, kept in a cookie.

What the device has no choice of its own for is as the account prefers it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from feedmill.i18n.catalogue import LANGUAGES, best_language
from feedmill.serve.web.core.preferences import stored_preferences

APPEARANCE_COOKIE = "feedmill_look"
ZONE_COOKIE = "feedmill_zone"
A_YEAR = 365 * 86400

APPEARANCE_VALUES: Mapping[str, tuple[str, ...]] = {
    "theme": ("system", "light", "dark", "sepia", "contrast"),
    "language": ("auto", *LANGUAGES),
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

    def changed(self, wishes: Mapping[str, str]) -> "Appearance":
        """With those of the wishes that are choices of ours."""
        return replace(
            self, **{name: wishes[name] for name in APPEARANCE_VALUES if wishes.get(name) in APPEARANCE_VALUES[name]}
        )


DEFAULT_APPEARANCE = Appearance()


def appearance_of(request: Request) -> Appearance:
    return _account_appearance(request).changed(dict(parse_qsl(request.cookies.get(APPEARANCE_COOKIE, ""))))


def _account_appearance(request: Request) -> Appearance:
    return DEFAULT_APPEARANCE.changed(stored_preferences(request))


def save_appearance(request: Request, response: Response, look: Appearance) -> None:
    """Remembers on this device what differs from what the account prefers."""
    usual = _account_appearance(request)
    own = {name: value for name, value in asdict(look).items() if value != getattr(usual, name)}
    response.set_cookie(APPEARANCE_COOKIE, urlencode(own), A_YEAR, secure=request.url.scheme == "https", httponly=True)


def language_of(request: Request) -> str:
    chosen = appearance_of(request).language
    return best_language(request.headers.get("accept-language", "")) if chosen == "auto" else chosen
