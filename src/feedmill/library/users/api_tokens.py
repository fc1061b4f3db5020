"""Creates, lists and revokes API tokens; none is more powerful than what it is created with.

A token that is created with another token has no more scopes and pool groups, expires no later, is revoked with it, and
creates no further tokens.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from secrets import token_urlsafe

from feedmill.errors import BadInput, LimitExceeded, NotAllowed, NotFound
from feedmill.i18n.messages import Message
from feedmill.model.pool import find_pool_group
from feedmill.model.user import ADMIN, POOLS, ApiToken, Caller
from feedmill.store.database import Database
from feedmill.store.pools.grants import pool_access
from feedmill.store.pools.groups import all_groups
from feedmill.store.users.api_tokens import TOKEN_PREFIX, add_token, revoke_token, tokens_of

MAX_API_TOKENS = 200
MAX_LIFETIME = timedelta(days=36_500)


async def create_api_token(
    db: Database,
    who: Caller,
    name: str,
    scopes: Iterable[str],
    expires_at: datetime | None,
    now: datetime,
    pool_groups: Sequence[str] | None = None,
) -> tuple[str, ApiToken]:
    """The secret, which is not stored and cannot be shown again, and the token. `pool_groups` are names or ids."""
    wanted = frozenset(scopes)
    if who.key is not None and who.key.made_by is not None:
        raise NotAllowed(Message("error.token_makes_no_tokens"))
    if missing := sorted(wanted - who.scopes):
        raise NotAllowed(Message("error.scopes_beyond", scopes=", ".join(missing)))
    expiry = _expiry(who.key, expires_at, now)
    groups = await _groups(db, who, wanted, pool_groups)
    if len(await tokens_of(db, who.user.id, now)) >= MAX_API_TOKENS:
        raise LimitExceeded(Message("error.too_many_tokens", most=MAX_API_TOKENS))
    secret = TOKEN_PREFIX + token_urlsafe(32)
    return secret, await add_token(db, who.user.id, name, secret, wanted, now, expiry, groups, who)


async def list_api_tokens(db: Database, who: Caller, now: datetime) -> list[ApiToken]:
    """The caller's valid tokens, the newest first."""
    return await tokens_of(db, who.user.id, now)


async def revoke_api_token(db: Database, who: Caller, token_id: int, now: datetime) -> None:
    """Revokes a token of the caller's with those that were made with it; raises `NotFound`, also for others'."""
    if not await revoke_token(db, who.user.id, token_id, now):
        raise NotFound(Message("error.no_such_api_token"))


def _expiry(maker: ApiToken | None, expires_at: datetime | None, now: datetime) -> datetime | None:
    """When the token expires: with the token that creates it, unless an earlier time is given."""
    if expires_at is not None and not now < expires_at < now + MAX_LIFETIME:
        raise BadInput(Message("error.token_expiry"), field="expires_at")
    latest = maker.expires_at if maker else None
    if latest is not None and expires_at is not None and expires_at > latest:
        raise BadInput(Message("error.token_outlives"), field="expires_at")
    return expires_at or latest


async def _groups(db: Database, who: Caller, scopes: frozenset[str], named: Sequence[str] | None) -> list[int] | None:
    """The ids of the groups that the token is limited to, by default those of its creator; None for all."""
    limit = who.key.pool_groups if who.key else None
    if named is None:
        return None if limit is None else [group.id for group in limit]
    if POOLS not in scopes or ADMIN in scopes:
        raise BadInput(Message("error.token_groups"), field="pool_groups")
    access, groups = await pool_access(db, who), await all_groups(db)
    found = [(name, find_pool_group(groups, name)) for name in named]
    for name, group in found:
        if group is None or not access.allows(group.id):
            raise BadInput(Message("error.unknown_pool_group", name=name), field="pool_groups")
    return sorted({group.id for _, group in found if group})
