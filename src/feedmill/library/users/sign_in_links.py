"""Links that sign a user in once: invitations of new users, and the way back for somebody who is locked out."""

from datetime import datetime, timedelta
from secrets import token_urlsafe

from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.users.manage_users import normalize_user_name
from feedmill.model.user import Actor, User
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.users import sign_in_links, users
from feedmill.store.users.api_keys import secret_digest

PATH = "/sign-in-link"
INVITATION_LIFETIME = timedelta(days=7)
LINK_LIFETIME = timedelta(hours=1)


async def invite_user(db: Database, name: str, is_admin: bool, now: datetime, by: Actor) -> tuple[User, str]:
    """Creates a user without a password, and the token of the link that signs them in; raises `NameTaken`."""
    user = await users.add_user(db, normalize_user_name(name), None, is_admin, now, by)
    return user, await create_sign_in_link(db, user, INVITATION_LIFETIME, now, by)


async def create_sign_in_link(db: Database, user: User, lifetime: timedelta, now: datetime, by: Actor) -> str:
    """The token of a new link. It is not stored and cannot be shown again; links that the user had end."""
    token = token_urlsafe(32)
    await sign_in_links.add_sign_in_link(db, user, secret_digest(token), now + lifetime, now, by)
    return token


async def user_of_sign_in_link(db: Database, token: str, now: datetime) -> User:
    """Whom the link signs in; raises `NotFound` if it was used or has expired."""
    user = await sign_in_links.user_of_link(db, secret_digest(token), now)
    if user is None:
        raise NotFound(Message("error.no_such_sign_in_link"))
    return user


async def use_sign_in_link(db: Database, token: str, now: datetime) -> User:
    """Ends the link and returns its user; raises `NotFound`. It works once, however many ask at the same time."""
    user = await user_of_sign_in_link(db, token, now)
    if not await sign_in_links.use_link(db, secret_digest(token), now):
        raise NotFound(Message("error.no_such_sign_in_link"))
    return user


def address_of(settings: Settings) -> str:
    """The address of this site: the public one, or where it listens."""
    host = f"[{settings.listen}]" if ":" in settings.listen else settings.listen
    return settings.public_url or f"http://{host}:{settings.port}"


def sign_in_link(site: str, token: str) -> str:
    """The address of the page."""
    return f"{site}{PATH}/{token}"
