"""Flash messages: shown once on the next page, with an undo button where there is one."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from feedmill.i18n.catalogue import Translator

FLASH_COOKIE = "feedmill_flash"
A_MINUTE = 60


@dataclass(frozen=True, slots=True)
class FlashMessage:
    """A sentence of the catalogue with its values; `undo` is what `POST /undo` takes."""

    key: str
    values: dict[str, str | int] = field(default_factory=dict)
    undo: str | None = None
    tone: str = "done"


def flash_success(key: str, undo: str | None = None, **values: str | int) -> FlashMessage:
    return FlashMessage(key, values, undo)


def flash_error(key: str, **values: str | int) -> FlashMessage:
    return FlashMessage(key, values, tone="failed")


def set_flash(response: Response, said: FlashMessage) -> None:
    packed = json.dumps([said.key, said.values, said.undo, said.tone], ensure_ascii=False)
    response.set_cookie(
        FLASH_COOKIE, urlsafe_b64encode(packed.encode()).decode(), A_MINUTE, httponly=True, samesite="lax"
    )


def read_flash(request: Request, t: Translator) -> FlashMessage | None:
    """What was said, once, if these words can say it; `clear` the answer that shows it."""
    packed = request.cookies.get(FLASH_COOKIE)
    if not packed:
        return None
    try:
        key, values, undo, tone = json.loads(urlsafe_b64decode(packed))
        said = FlashMessage(str(key), {str(name): value for name, value in values.items()}, undo, tone)
        t(said.key, **said.values)  # type: ignore[arg-type]
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        # Not ours: whoever owns a neighbouring name can set our cookies.
        return None
    return said


def clear_flash(response: Response) -> None:
    response.delete_cookie(FLASH_COOKIE)
