"""Creates, lists and revokes API keys; none is more powerful than what it is created with.

A key that is created with another key has no more scopes and pool groups, expires no later, is revoked with it, and
creates no further keys.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from secrets import token_urlsafe

from feedmill.errors import BadInput, LimitExceeded, NotAllowed, NotFound
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolRight, find_pool_group
from feedmill.model.user import ADMIN, FILL, POOLS, ApiKey, Caller
from feedmill.store.database import Database
from feedmill.store.pools.grants import pool_access
from feedmill.store.pools.groups import all_groups
from feedmill.store.users.api_keys import API_KEY_PREFIX, add_api_key, api_keys_of, revoke_api_key_of_user

MAX_API_KEYS = 200
MAX_LIFETIME = timedelta(days=36_500)


async def create_api_key(
    db: Database,
    who: Caller,
    name: str,
    scopes: Iterable[str],
    expires_at: datetime | None,
    now: datetime,
    pool_groups: Sequence[str] | None = None,
) -> tuple[str, ApiKey]:
    """The secret, which is not stored and cannot be shown again, and the key. `pool_groups` are names or ids."""
    allowed = frozenset(scopes)
    if who.api_key is not None and who.api_key.parent_key_id is not None:
        raise NotAllowed(Message("error.key_makes_no_keys"))
    if missing := sorted(allowed - who.scopes):
        raise NotAllowed(Message("error.scopes_beyond", scopes=", ".join(missing)))
    expiry = _expiry(who.api_key, expires_at, now)
    groups = await _groups(db, who, allowed, pool_groups)
    if len(await api_keys_of(db, who.user.id, now)) >= MAX_API_KEYS:
        raise LimitExceeded(Message("error.too_many_api_keys", most=MAX_API_KEYS))
    secret = API_KEY_PREFIX + token_urlsafe(32)
    return secret, await add_api_key(db, who.user.id, name, secret, allowed, now, expiry, groups, who)


async def list_api_keys(db: Database, who: Caller, now: datetime) -> list[ApiKey]:
    """The caller's valid keys, the newest first."""
    return await api_keys_of(db, who.user.id, now)


async def revoke_api_key(db: Database, who: Caller, key_id: int, now: datetime) -> None:
    """Revokes a key of the caller's with those that were made with it; raises `NotFound`, also for others'."""
    if not await revoke_api_key_of_user(db, who.user.id, key_id, now):
        raise NotFound(Message("error.no_such_api_key"))


def _expiry(maker: ApiKey | None, expires_at: datetime | None, now: datetime) -> datetime | None:
    """When the key expires: with the key that creates it, unless an earlier time is given."""
    if expires_at is not None and not now < expires_at < now + MAX_LIFETIME:
        raise BadInput(Message("error.api_key_expiry"), field="expires_at")
    latest = maker.expires_at if maker else None
    if latest is not None and expires_at is not None and expires_at > latest:
        raise BadInput(Message("error.api_key_outlives"), field="expires_at")
    return expires_at or latest


async def _groups(db: Database, who: Caller, scopes: frozenset[str], named: Sequence[str] | None) -> list[int] | None:
    """The ids of the groups that the key is limited to, by default those of its creator; None for all."""
    limit = who.api_key.pool_groups if who.api_key else None
    if named is None:
        return None if limit is None else [group.id for group in limit]
    if scopes.isdisjoint({POOLS, FILL}) or ADMIN in scopes:
        raise BadInput(Message("error.api_key_groups"), field="pool_groups")
    access, groups = [await pool_access(db, who, right) for right in PoolRight], await all_groups(db)
    found = [(name, find_pool_group(groups, name)) for name in named]
    for name, group in found:
        if group is None or not any(each.allows(group.id) for each in access):
            raise BadInput(Message("error.unknown_pool_group", name=name), field="pool_groups")
    return sorted({group.id for _, group in found if group})
