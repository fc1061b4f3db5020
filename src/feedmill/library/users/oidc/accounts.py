"""The accounts of identities: found by issuer and subject, created for allowed groups, linked by their owners.

A name or an e-mail address never leads to an account: whoever has the same one at a provider may be somebody else.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from secrets import token_hex
from typing import Any

from feedmill.errors import LastAdmin, NameTaken, NotFound
from feedmill.i18n.messages import Message
from feedmill.identity_providers import IdentityProvider
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.manage_users import LONGEST_NAME
from feedmill.library.users.oidc.claims import account_name, is_admin_by_claim, label_of, may_create_account
from feedmill.library.users.oidc.code_flow import ProvenIdentity
from feedmill.library.users.oidc.errors import ProviderSignInRefused
from feedmill.model.user import ACTIVE, Actor, Caller, LinkedIdentity, ProviderSubject, User
from feedmill.settings import Settings
from feedmill.store.admin.users import update_user
from feedmill.store.database import Database
from feedmill.store.users import identities

log = get_logger(__name__)

# Names that are tried with a number after them when a name is taken; then with random digits.
NUMBERED = range(2, 10)


async def user_of_proven_identity(db: Database, proven: ProvenIdentity, address: str | None, now: datetime) -> User:
    """The user who signs in, with the right of an admin as the claims have it; raises `ProviderSignInRefused`."""
    provider, claims, by = proven.provider, proven.claims, Actor(None, address)
    subject = subject_of(proven)
    user = await identities.user_of_identity(db, subject) or await _create(db, provider, claims, subject, now, by)
    if user.status != ACTIVE:
        raise ProviderSignInRefused(Message("identity_provider.disabled"), "account_disabled")
    await identities.record_identity_use(db, subject, now)
    return await _with_admin_right(db, user, is_admin_by_claim(provider, claims), now, by)


async def link_identity(db: Database, who: Caller, proven: ProvenIdentity, address: str | None, now: datetime) -> None:
    """Links the identity to the caller, who began it; raises `Conflict` if it belongs to an account already."""
    if proven.pending.linking_user_id != who.user.id:
        raise ProviderSignInRefused(Message("identity_provider.expired"), "another_user")
    await identities.add_identity(db, who.user, subject_of(proven), now, Actor(who.user.id, address))


async def list_identities(db: Database, who: Caller) -> list[LinkedIdentity]:
    """The caller's identities, the oldest first."""
    return await identities.identities_of(db, who.user.id)


async def unlink_identity(
    db: Database, settings: Settings, who: Caller, identity_id: int, address: str | None, now: datetime
) -> None:
    """Unlinks an identity of the caller; raises `NotFound`, or `Conflict` for the last way to sign in."""
    by, issuers = Actor(who.user.id, address), [provider.issuer for provider in settings.oidc]
    if not await identities.remove_identity(db, who.user, identity_id, issuers, settings.password_sign_in, now, by):
        raise NotFound(Message("error.no_such_identity"))


def subject_of(proven: ProvenIdentity) -> ProviderSubject:
    label = label_of(proven.provider, proven.claims)
    return ProviderSubject(proven.provider.issuer, proven.claims["sub"], label)


async def _create(
    db: Database,
    provider: IdentityProvider,
    claims: Mapping[str, Any],
    subject: ProviderSubject,
    now: datetime,
    by: Actor,
) -> User:
    """Creates the account of somebody in an allowed group, under another name if theirs is taken."""
    if not may_create_account(provider, claims):
        message = Message("identity_provider.no_account", provider=provider.label)
        raise ProviderSignInRefused(message, "no_account")
    is_admin, wished = bool(is_admin_by_claim(provider, claims)), account_name(provider, claims)
    for suffix in ("", *(f"-{number}" for number in NUMBERED), f"-{token_hex(4)}"):
        name = wished[: LONGEST_NAME - len(suffix)] + suffix
        try:
            user = await identities.add_user_with_identity(db, name, is_admin, subject, now, by)
        except NameTaken:
            continue
        # None if the same sign-in has just created it.
        user = user or await identities.user_of_identity(db, subject)
        if user is not None:
            log.info("account_created_at_sign_in", user_id=user.id, provider=provider.id)
            return user
    raise ProviderSignInRefused(Message("identity_provider.no_account", provider=provider.label), "no_free_name")


async def _with_admin_right(db: Database, user: User, is_admin: bool | None, now: datetime, by: Actor) -> User:
    """Grants or takes the right of an admin. The last admin keeps it, so that nobody is locked out."""
    if is_admin is None or is_admin == user.is_admin:
        return user
    changed = replace(user, is_admin=is_admin)
    try:
        await update_user(db, user, changed, by, now)
    except LastAdmin:
        log.warning("last_admin_kept", user_id=user.id)
        return user
    log.info("admin_right_changed_by_claim", user_id=user.id, is_admin=is_admin)
    return changed
