"""Keys that a person makes for programs: shown once, no more powerful than who makes them."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from secrets import token_urlsafe

from feedmill.errors import BadInput, NotAllowed, TooMany
from feedmill.model.account import Caller, Token
from feedmill.store.database import Database
from feedmill.store.tokens import PREFIX, add_token, tokens_of

MOST_KEYS = 200
LONGEST = timedelta(days=36_500)


async def make_key(
    db: Database, who: Caller, name: str, scopes: Iterable[str], expires_at: datetime | None, now: datetime
) -> tuple[str, Token]:
    """The key itself, which nobody can show again, and what is known of it."""
    wanted = frozenset(scopes)
    if beyond := sorted(wanted - who.scopes):
        raise NotAllowed(f"you can't give what you don't have: {', '.join(beyond)}")
    if expires_at is not None and not now < expires_at < now + LONGEST:
        raise BadInput("a key ends in the future, and within a hundred years", field="expires_at")
    if len(await tokens_of(db, who.user.id, now)) >= MOST_KEYS:
        raise TooMany(f"you have {MOST_KEYS} keys: revoke one that you don't need")
    secret = PREFIX + token_urlsafe(32)
    return secret, await add_token(db, who.user.id, name, secret, wanted, now, expires_at)
