"""Visitors make accounts for themselves, where the operator lets them."""

from datetime import datetime

from feedmill.errors import NotAllowed
from feedmill.library import accounts, throttle
from feedmill.model.account import Actor, Origin, User
from feedmill.settings import Settings
from feedmill.store.database import Database


async def is_open(db: Database, settings: Settings) -> bool:
    """Whether visitors may: not before there is an admin."""
    return settings.registration and not await accounts.needs_setup(db)


async def register(db: Database, settings: Settings, name: str, password: str, origin: Origin, now: datetime) -> User:
    """Makes the account; `NotAllowed` unless the setting `registration` is on, `NameTaken` when somebody has it."""
    if not await is_open(db, settings):
        raise NotAllowed("accounts are made by the admin here")
    # Counted like tries to sign in: it costs as much, and it tells which names are taken.
    await throttle.wait_turn(db, throttle.Place("", origin.address), now)
    return await accounts.add_account(db, name, password, False, now, Actor(None, origin.address))
