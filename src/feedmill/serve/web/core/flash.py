"""Flash messages: shown once on the next page, with an undo button where there is one."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response

from feedmill.i18n.translator import Translator

FLASH_COOKIE = "feedmill_flash"
A_MINUTE = 60


@dataclass(frozen=True, slots=True)
class FlashMessage:
    """A message: the key of its text, the values in it, and the token for `POST /undo` if it can be undone."""

    key: str
    values: dict[str, str | int] = field(default_factory=dict)
    undo: str | None = None
    tone: str = "done"

    def text(self, t: Translator) -> str:
        return t(self.key, **self.values)  # type: ignore[arg-type] # of a key that takes these values


def flash_success(key: str, undo: str | None = None, **values: str | int) -> FlashMessage:
    return FlashMessage(key, values, undo)


def flash_error(key: str, **values: str | int) -> FlashMessage:
    return FlashMessage(key, values, tone="failed")


def set_flash(response: Response, message: FlashMessage) -> None:
    encoded = json.dumps([message.key, message.values, message.undo, message.tone], ensure_ascii=False)
    response.set_cookie(
        FLASH_COOKIE, urlsafe_b64encode(encoded.encode()).decode(), A_MINUTE, httponly=True, samesite="lax"
    )


def read_flash(request: Request, t: Translator) -> FlashMessage | None:
    """The message of the cookie, if its text exists. The response that shows it must be passed to `clear_flash`."""
    encoded = request.cookies.get(FLASH_COOKIE)
    if not encoded:
        return None
    try:
        key, values, undo, tone = json.loads(urlsafe_b64decode(encoded))
        message = FlashMessage(str(key), {str(name): value for name, value in values.items()}, undo, tone)
        message.text(t)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        # Not ours: another site on the same domain can set our cookies.
        return None
    return message


def clear_flash(response: Response) -> None:
    response.delete_cookie(FLASH_COOKIE)
