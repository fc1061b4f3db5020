"""Who tries to sign in too often has to wait, longer each time, and never for good.

Tries are counted before the password is looked at, three ways: for a name from one address, for a name from
anywhere, and for an address with any name. Refused tries are not counted, so the wait ends whatever a stranger does.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from ipaddress import IPv6Address, ip_address
from math import ceil

from feedmill.errors import TooMany
from feedmill.store.database import Database, Step
from feedmill.store.sessions import is_signed_in_from
from feedmill.store.sign_in_tries import Tried, count_try, forget_tries, is_fresh, take_back_try, tried

# When others try at the same moment, the count is read again so many times.
ROUNDS = 10


@dataclass(frozen=True, slots=True)
class Patience:
    """So many tries cost no wait; from then on each doubles it, up to a longest."""

    free: int
    longest: timedelta

    def wait(self, seen: Tried, now: datetime) -> timedelta:
        """How long from now until the next try is looked at."""
        beyond = seen.times - self.free
        if beyond < 0 or not is_fresh(seen, now):
            return timedelta(0)
        pause = min(timedelta(seconds=2 ** min(beyond, 20)), self.longest)
        return max(seen.last_at + pause - now, timedelta(0))


PAIR = Patience(free=5, longest=timedelta(minutes=15))
ADDRESS = Patience(free=30, longest=timedelta(minutes=15))
# Short, because the owner waits as well.
NAME = Patience(free=20, longest=timedelta(minutes=1))


@dataclass(frozen=True, slots=True)
class Place:
    """What a try is counted under."""

    name: str
    address: str | None

    @property
    def patience(self) -> dict[str, Patience]:
        of_name = {self._key("name", self.name): NAME}
        if self.address is None:
            return of_name
        network = _network(self.address)
        return {self._key("pair", self.name, network): PAIR, self.address_key: ADDRESS} | of_name

    @property
    def address_key(self) -> str:
        return self._key("address", _network(self.address or ""))

    @staticmethod
    def _key(*parts: str) -> str:
        return sha256("\n".join(parts).encode(errors="replace")).hexdigest()


async def wait_turn(db: Database, place: Place, now: datetime) -> None:
    """Counts a try, or refuses it with the time to wait."""
    patience = place.patience
    for _ in range(ROUNDS):
        seen = await tried(db, list(patience))
        waits = {rule: rule.wait(seen[key], now) for key, rule in patience.items()}
        if waits[NAME] and await _is_at_home(db, place):
            waits[NAME] = timedelta(0)
        if any(waits.values()):
            raise _refusal(max(waits.values()))
        if await count_try(db, seen, now):
            return
    raise _refusal(timedelta(seconds=1))


def succeeded(place: Place) -> list[Step]:
    """The steps that forget the tries of somebody who is who they say; an address keeps those for other names."""
    own = [key for key in place.patience if key != place.address_key]
    return [forget_tries(own), take_back_try(place.address_key)]


async def _is_at_home(db: Database, place: Place) -> bool:
    """Whether the name's owner is signed in at this address: no stranger's tries hold them up there."""
    return place.address is not None and await is_signed_in_from(db, place.name, place.address)


def _refusal(wait: timedelta) -> TooMany:
    seconds = max(1, ceil(wait.total_seconds()))
    return TooMany(f"Too many tries to sign in: wait {seconds} s.", retry_after=seconds)


def _network(address: str) -> str:
    """The address, or the network that one household has of IPv6."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
    return address
