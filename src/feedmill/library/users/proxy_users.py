"""The accounts of users whom a trusted proxy has signed in."""

from datetime import datetime

from feedmill.errors import BadInput, NameTaken, NotAllowed
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.user import ACTIVE, Actor, User
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.users import users

log = get_logger(__name__)


class ProxyUserRefused(NotAllowed):
    """The proxy names somebody who has no account here, or a disabled one."""

    code = "proxy_user_refused"


async def user_named_by_proxy(db: Database, settings: Settings, name: str, address: str | None, now: datetime) -> User:
    """The user of that name, created if `sign_in_header_creates` allows it; raises `ProxyUserRefused`."""
    try:
        normal = normalize_user_name(name)
    except BadInput as error:
        raise _refused(name) from error
    user = await users.user_of_name(db, normal)
    if user is None and settings.sign_in_header_creates:
        user = await _create(db, normal, address, now)
    if user is None or user.status != ACTIVE:
        raise _refused(name)
    return user


def is_same_user(name: str, user: User) -> bool:
    """Whether the proxy names this user."""
    try:
        return normalize_user_name(name) == user.name
    except BadInput:
        return False


async def _create(db: Database, name: str, address: str | None, now: datetime) -> User | None:
    try:
        user = await users.add_user(db, name, None, False, now, Actor(None, address))
    except NameTaken:  # by the same user, in another request
        return await users.user_of_name(db, name)
    log.info("account_created_by_proxy", user_id=user.id)
    return user


def _refused(name: str) -> ProxyUserRefused:
    return ProxyUserRefused(Message("error.no_proxy_user", name=name[:100]))
