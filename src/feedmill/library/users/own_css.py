"""A user's own CSS: checked so that it loads nothing from elsewhere, and stored with the account."""

import re
from dataclasses import replace
from hashlib import sha256

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.users.preferences import encode_preferences, preferences_of
from feedmill.model.user import User
from feedmill.store.database import Database
from feedmill.store.users.own_css import read_own_css, steps_to_save_own_css
from feedmill.store.users.users import step_to_save_preferences

MAX_BYTES = 50_000
MAX_SHOWN = 60
# The preference with the digest of the CSS; empty: there is none.
PREFERENCE = "own_css"

_ESCAPE = re.compile(r"\\(?:([0-9a-f]{1,6})(?:\r\n|[ \t\r\n\f])?|(.))", re.IGNORECASE | re.DOTALL)
# What loads something. An address may be data, a fragment, or a path on this server: `/` and a letter, because browsers
# drop tabs and line breaks, so that `/`, a tab and `/` begin an address of another host.
_LOADS = re.compile(
    r"@import|\b(?:image-set|image|src|cross-fade)\(|url\((?!\s*[\"']?(?:data:|#|/[a-z0-9_]))", re.IGNORECASE
)


def check_own_css(css: str) -> None:
    """Raises `BadInput` if the CSS is too long or could load something from elsewhere, even in a comment."""
    if len(css.encode()) > MAX_BYTES:
        raise BadInput(Message("error.css_too_long", n=MAX_BYTES), "css")
    plain = _ESCAPE.sub(_unescape, css)
    if found := _LOADS.search(plain):
        raise BadInput(Message("error.css_loads", text=plain[found.start() :][:MAX_SHOWN].split("\n")[0]), "css")


async def save_own_css(db: Database, user: User, css: str) -> User:
    """Replaces the CSS of the user, or deletes it if it is empty; the user as changed. Raises `BadInput`."""
    check_own_css(css)
    digest = sha256(css.encode()).hexdigest()[:16] if css else ""
    settings = encode_preferences({**preferences_of(user), PREFERENCE: digest})
    await db.batch([*steps_to_save_own_css(user.id, css), step_to_save_preferences(user.id, settings)])
    return replace(user, settings=settings)


async def own_css_of(db: Database, user: User) -> str:
    """The CSS of the user; empty if there is none."""
    return await read_own_css(db, user.id) if preferences_of(user).get(PREFERENCE) else ""


def _unescape(escape: re.Match[str]) -> str:
    if not escape[1]:
        return escape[2]
    number = int(escape[1], 16)
    return chr(number) if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF else "\ufffd"
