"""Creates and removes users, changes passwords, ends sessions."""

import re
import unicodedata
from dataclasses import replace
from datetime import datetime

from feedmill.archive.remove_feed import remove_feed_and_objects
from feedmill.encryption import Encryption
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.users import passwords
from feedmill.library.users.confirm_owner import OwnerProof, confirm_owner
from feedmill.model.user import DISABLED, AccessEnded, Actor, Caller, RequestOrigin, User
from feedmill.store.admin.audit_log import step_to_audit
from feedmill.store.admin.users import delete_user, update_user
from feedmill.store.database import Database, Step
from feedmill.store.feeds.lifecycle import private_feeds_of
from feedmill.store.output_feeds.output_feeds import output_feeds_of, step_to_revoke_all_output_feeds
from feedmill.store.subscriptions.change_subscription import end_subscription
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from feedmill.store.users import api_keys, app_passwords, sessions, users
from feedmill.store.users.first_admin import add_first_admin

LONGEST_NAME = 64
_NAME = re.compile(r"[\w.@+-]+")


def normalize_user_name(name: str) -> str:
    """The normal form of a user name; raises `BadInput` for text that cannot be one."""
    normal = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).strip().casefold())
    if not _NAME.fullmatch(normal) or not any(letter.isalnum() for letter in normal) or len(normal) > LONGEST_NAME:
        raise BadInput(Message("error.bad_user_name", most=LONGEST_NAME), field="name")
    return normal


async def find_user(db: Database, typed: str) -> User | None:
    """The user of that name, however it was typed; None when there is none."""
    try:
        return await users.user_of_name(db, normalize_user_name(typed))
    except BadInput:
        return None


async def needs_setup(db: Database) -> bool:
    """Whether there is no user yet."""
    return await users.count_users(db) == 0


async def create_first_admin(db: Database, name: str, password: str, now: datetime) -> User:
    """Creates the first admin, subscribed to every stored feed; raises `AlreadySetUp` if there is a user already."""
    normal = normalize_user_name(name)
    passwords.check_password_length(password)
    return await add_first_admin(db, normal, await passwords.hash_password(password), now)


async def make_user(db: Database, name: str, password: str, is_admin: bool, now: datetime, by: Actor) -> User:
    """Creates a user; raises `NameTaken`."""
    normal = normalize_user_name(name)
    passwords.check_password_length(password)
    return await users.add_user(db, normal, await passwords.hash_password(password), is_admin, now, by)


async def change_password(
    db: Database,
    encryption: Encryption,
    who: Caller,
    proof: OwnerProof,
    new: str,
    origin: RequestOrigin,
    now: datetime,
    *,
    revoke_keys: bool = False,
) -> AccessEnded:
    """Changes the password of a caller who proves to own the account; ends all other sessions."""
    passwords.check_password_length(new)
    await confirm_owner(db, encryption, who, proof, origin, now)
    by = Actor(who.user.id, origin.address)
    return await set_password(db, who.user, new, who.session_id, now, by, revoke_keys=revoke_keys)


async def set_password(
    db: Database, user: User, new: str, but_session: int | None, now: datetime, by: Actor, *, revoke_keys: bool = False
) -> AccessEnded:
    """Sets a password without asking for the old one, for admins; ends every session but `but_session`."""
    passwords.check_password_length(new)
    changes = [
        users.step_to_set_password(user.id, await passwords.hash_password(new)),
        step_to_audit(by, "user.password", user.name, now),
    ]
    return await _end_access(db, changes, user, but_session, now, by, revoke_keys)


async def sign_out_elsewhere(
    db: Database, who: Caller, origin: RequestOrigin, now: datetime, *, revoke_keys: bool = False
) -> AccessEnded:
    """Ends every session but the caller's own, and revokes everything in `count_keys` if `revoke_keys`."""
    by = Actor(who.user.id, origin.address)
    return await _end_access(db, [users.step_to_lock_user(who.user.id)], who.user, who.session_id, now, by, revoke_keys)


async def _end_access(
    db: Database, changes: list[Step], user: User, but_session: int | None, now: datetime, by: Actor, revoke_keys: bool
) -> AccessEnded:
    """Runs `changes`, which must lock the user's row first: adding an API key waits for it."""
    ends = [sessions.step_to_drop_expired_sessions(now), sessions.step_to_end_other_sessions(user.id, but_session)]
    revokes = [
        api_keys.step_to_revoke_all_api_keys(user.id, now),
        app_passwords.step_to_revoke_all_app_passwords(user.id, now),
        step_to_revoke_all_output_feeds(user.id, now),
        step_to_audit(by, "user.revoke_keys", user.name, now),
    ]
    counts = await db.batch([*changes, *ends, *(revokes if revoke_keys else ())])
    first_revoke = len(changes) + len(ends)
    revoked = sum(counts[first_revoke : first_revoke + 3]) if revoke_keys else 0
    left = await count_keys(db, user.id, now)
    return AccessEnded(sessions_ended=counts[len(changes) + 1], keys_revoked=revoked, keys_left=left)


async def count_keys(db: Database, user_id: int, now: datetime) -> int:
    """How many secrets give access to what is the user's: API keys, app passwords, addresses of output feeds."""
    return (
        len(await api_keys.api_keys_of(db, user_id, now))
        + len(await app_passwords.app_passwords_of(db, user_id))
        + len(await output_feeds_of(db, user_id, now))
    )


async def remove_user(db: Database, user: User, by: Actor, now: datetime) -> None:
    """Deletes a user: ends the sessions first, then the subscriptions and private feeds, then all other data.

    A private feed goes with its entries, images and raw bodies, because nobody else may ever read it. The account
    itself goes last, so that deleting it again finishes what a crash left undone.
    """
    await update_user(db, user, replace(user, status=DISABLED), by, now)
    for subscription in await subscriptions_of(db, user.id):
        await end_subscription(db, user.id, subscription)
    for feed_id in await private_feeds_of(db, user.id):
        await remove_feed_and_objects(db, feed_id, now)
    await delete_user(db, user, by, now)
