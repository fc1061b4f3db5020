"""Limits failed sign-in attempts by name and by address.

Attempts are counted before the password is verified, in three ways: for a name from one address, for a name from
anywhere, and for an address with any name. Refused attempts are not counted, so a stranger cannot prolong the wait.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from math import ceil

from feedmill.errors import LimitExceeded
from feedmill.i18n.messages import Message
from feedmill.store.database import Database, Step
from feedmill.store.users.sessions import is_signed_in_from
from feedmill.store.users.sign_in_attempts import (
    SignInAttempts,
    count_sign_in_attempt,
    is_recent,
    read_sign_in_attempts,
    step_to_forget_attempts,
    step_to_uncount_attempt,
)

# How often the counts are read again when other attempts are counted at the same time.
ROUNDS = 10


@dataclass(frozen=True, slots=True)
class AttemptLimit:
    """So many attempts are free; after that each doubles the wait, up to the longest."""

    free: int
    longest: timedelta

    def wait(self, seen: SignInAttempts, now: datetime) -> timedelta:
        """How long from now until the next attempt is allowed."""
        beyond = seen.count - self.free
        if beyond < 0 or not is_recent(seen, now):
            return timedelta(0)
        pause = min(timedelta(seconds=2 ** min(beyond, 20)), self.longest)
        return max(seen.last_at + pause - now, timedelta(0))


PAIR_LIMIT = AttemptLimit(free=5, longest=timedelta(minutes=15))
ADDRESS_LIMIT = AttemptLimit(free=30, longest=timedelta(minutes=15))
# Short, because the owner of the name waits too.
NAME_LIMIT = AttemptLimit(free=20, longest=timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class AttemptSource:
    """The name and address that an attempt is counted under; those of each `channel` are counted apart.

    So a reader app with an old password does not keep its user from signing in with the browser.
    """

    name: str
    address: str | None
    channel: str = ""
    name_limit: AttemptLimit = NAME_LIMIT

    @property
    def limits(self) -> dict[str, AttemptLimit]:
        of_name = {self._key("name", self.name): self.name_limit}
        if self.address is None:
            return of_name
        network = _network(self.address)
        return {self._key("pair", self.name, network): PAIR_LIMIT, self.address_key: ADDRESS_LIMIT} | of_name

    @property
    def address_key(self) -> str:
        return self._key("address", _network(self.address or ""))

    def _key(self, *parts: str) -> str:
        named = (self.channel, *parts) if self.channel else parts
        return sha256("\n".join(named).encode(errors="replace")).hexdigest()


async def count_attempt(db: Database, source: AttemptSource, now: datetime) -> None:
    """Counts an attempt, or raises `LimitExceeded` with the time to wait."""
    limits = source.limits
    for _ in range(ROUNDS):
        seen = await read_sign_in_attempts(db, list(limits))
        waits = {limit: limit.wait(seen[key], now) for key, limit in limits.items()}
        if waits[source.name_limit] and await _is_signed_in_here(db, source):
            waits[source.name_limit] = timedelta(0)
        if any(waits.values()):
            raise _refusal(max(waits.values()))
        if await count_sign_in_attempt(db, seen, now):
            return
    raise _refusal(timedelta(seconds=1))


def forget_attempts(source: AttemptSource) -> list[Step]:
    """The steps that clear the attempts of a user who signed in; the address keeps those for other names."""
    own = [key for key in source.limits if key != source.address_key]
    return [step_to_forget_attempts(own), step_to_uncount_attempt(source.address_key)]


async def _is_signed_in_here(db: Database, source: AttemptSource) -> bool:
    """Whether the user is signed in at this address, where attempts of others must not make them wait."""
    return source.address is not None and await is_signed_in_from(db, source.name, source.address)


def _refusal(wait: timedelta) -> LimitExceeded:
    seconds = max(1, ceil(wait.total_seconds()))
    return LimitExceeded(Message("error.too_many_sign_ins", seconds=seconds), retry_after=seconds)


def _network(address: str) -> str:
    """The IPv4 address, or the IPv6 network of one household."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
    return address
