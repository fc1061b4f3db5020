"""Turns the second factor of an account on and off, and renews its recovery codes."""

from datetime import datetime

from feedmill.encryption import Encryption
from feedmill.errors import BadInput, Conflict, NotAllowed
from feedmill.i18n.messages import Message
from feedmill.lazy_loggers import get_logger
from feedmill.library.users.confirm_owner import OwnerProof, confirm_owner
from feedmill.library.users.recovery_codes import new_recovery_codes, recovery_code_digest
from feedmill.library.users.second_factor import ENCRYPTION_PURPOSE, normalize_code
from feedmill.library.users.totp import step_of_code
from feedmill.model.user import Actor, Caller, RequestOrigin, User
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.users import two_factor

log = get_logger(__name__)


class AlreadyOn(Conflict):
    """The account has a second factor already."""

    code = "two_factor_on"

    def __init__(self) -> None:
        super().__init__(Message("error.two_factor_on"))


class TwoFactorMissing(NotAllowed):
    """The setting `require_two_factor` asks the user to set up a second factor before anything else."""

    code = "two_factor_missing"

    def __init__(self) -> None:
        super().__init__(Message("error.two_factor_missing"))


def must_set_up_two_factor(settings: Settings, user: User) -> bool:
    """Whether the user may do nothing else before that. Where no password signs in, there is nothing to protect so."""
    if user.has_two_factor or not user.has_password or not settings.password_sign_in:
        return False
    return settings.require_two_factor == "everyone" or (settings.require_two_factor == "admins" and user.is_admin)


async def turn_on_two_factor(
    db: Database,
    encryption: Encryption,
    who: Caller,
    secret: str,
    proof: OwnerProof,
    origin: RequestOrigin,
    now: datetime,
) -> list[str]:
    """The recovery codes, which cannot be shown again; ends all other sessions.

    `proof` has the password and the first code of the app with this secret; raises `BadInput` or `AlreadyOn`.
    """
    if who.user.has_two_factor:
        raise AlreadyOn
    _check_person(who)
    await confirm_owner(db, encryption, who, proof, origin, now)
    step = step_of_code(secret, normalize_code(proof.code), now)
    if step is None:
        raise BadInput(Message("error.wrong_code"), field="code")
    codes = new_recovery_codes()
    stored, by = encryption.encrypt(secret, ENCRYPTION_PURPOSE), Actor(who.user.id, origin.address)
    if not await two_factor.add_two_factor(db, who, stored, step, _digests(codes), by, now):
        raise AlreadyOn
    log.info("two_factor_turned_on", user_id=who.user.id)
    return codes


async def renew_recovery_codes(
    db: Database, encryption: Encryption, who: Caller, proof: OwnerProof, origin: RequestOrigin, now: datetime
) -> list[str]:
    """New recovery codes, which cannot be shown again; the old ones are no longer valid."""
    _check_person(who)
    if not who.user.has_two_factor:
        raise Conflict(Message("error.two_factor_off"))
    await confirm_owner(db, encryption, who, proof, origin, now)
    codes = new_recovery_codes()
    await two_factor.replace_recovery_codes(db, who.user, _digests(codes), Actor(who.user.id, origin.address), now)
    log.info("recovery_codes_renewed", user_id=who.user.id)
    return codes


async def turn_off_two_factor(
    db: Database, encryption: Encryption, who: Caller, proof: OwnerProof, origin: RequestOrigin, now: datetime
) -> None:
    """Turns it off for an owner who knows the password and has a code."""
    _check_person(who)
    await confirm_owner(db, encryption, who, proof, origin, now)
    await reset_two_factor(db, who.user, Actor(who.user.id, origin.address), now)


async def reset_two_factor(db: Database, user: User, by: Actor, now: datetime) -> bool:
    """Turns it off without any proof, for the operator; False if it was off."""
    if not user.has_two_factor:
        return False
    await two_factor.drop_two_factor(db, user, by, now)
    log.warning("two_factor_turned_off", user_id=user.id, by_user_id=by.user_id)
    return True


async def count_recovery_codes(db: Database, who: Caller) -> int:
    """How many recovery codes of the caller are left."""
    return await two_factor.count_recovery_codes(db, who.user.id)


def _check_person(who: Caller) -> None:
    """Raises `NotAllowed` for a key or an app password: only a person in a session changes the second factor."""
    if who.session_id is None:
        raise NotAllowed(Message("error.two_factor_person"))


def _digests(codes: list[str]) -> list[str]:
    return [digest for code in codes if (digest := recovery_code_digest(code)) is not None]
