"""How pages look on this device: theme, language, density and typography, kept in a cookie.

What the device has no choice of its own for is as the account prefers it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request
from starlette.responses import Response

from feedmill.serve.web.habits import preferred
from feedmill.serve.web.words import LANGUAGES, best_language

COOKIE = "feedmill_look"
ZONE_COOKIE = "feedmill_zone"
A_YEAR = 365 * 86400

CHOICES: Mapping[str, tuple[str, ...]] = {
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
class Look:
    theme: str = "system"
    language: str = "auto"
    density: str = "compact"
    font: str = "serif"
    size: str = "3"
    width: str = "medium"
    lines: str = "normal"
    justify: str = "no"
    originals: str = "no"

    def changed(self, wishes: Mapping[str, str]) -> "Look":
        """With those of the wishes that are choices of ours."""
        return replace(self, **{name: wishes[name] for name in CHOICES if wishes.get(name) in CHOICES[name]})


DEFAULT = Look()


def look_of(request: Request) -> Look:
    return _usual(request).changed(dict(parse_qsl(request.cookies.get(COOKIE, ""))))


def _usual(request: Request) -> Look:
    return DEFAULT.changed(preferred(request))


def keep_look(request: Request, response: Response, look: Look) -> None:
    """Remembers on this device what differs from what the account prefers."""
    usual = _usual(request)
    own = {name: value for name, value in asdict(look).items() if value != getattr(usual, name)}
    response.set_cookie(COOKIE, urlencode(own), A_YEAR, secure=request.url.scheme == "https", httponly=True)


def language_of(request: Request) -> str:
    chosen = look_of(request).language
    return best_language(request.headers.get("accept-language", "")) if chosen == "auto" else chosen
