"""A message for the next page: what a change has done, and how to undo it."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from feedmill.serve.web.words import Words

COOKIE = "feedmill_flash"
A_MINUTE = 60


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the catalogue with its values; `undo` is what `POST /undo` takes."""

    key: str
    values: dict[str, str | int] = field(default_factory=dict)
    undo: str | None = None
    tone: str = "done"


def say(key: str, undo: str | None = None, **values: str | int) -> Said:
    return Said(key, values, undo)


def say_failed(key: str, **values: str | int) -> Said:
    return Said(key, values, tone="failed")


def put(response: Response, said: Said) -> None:
    packed = json.dumps([said.key, said.values, said.undo, said.tone], ensure_ascii=False)
    response.set_cookie(COOKIE, urlsafe_b64encode(packed.encode()).decode(), A_MINUTE, httponly=True, samesite="lax")


def take(request: Request, t: Words) -> Said | None:
    """What was said, once, if these words can say it; `clear` the answer that shows it."""
    packed = request.cookies.get(COOKIE)
    if not packed:
        return None
    try:
        key, values, undo, tone = json.loads(urlsafe_b64decode(packed))
        said = Said(str(key), {str(name): value for name, value in values.items()}, undo, tone)
        t(said.key, **said.values)  # type: ignore[arg-type]
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        # Not ours: whoever owns a neighbouring name can set our cookies.
        return None
    return said


def clear(response: Response) -> None:
    response.delete_cookie(COOKIE)
