"""An admin blocks a host for everybody, and lets it be asked again."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.errors import BadInput, NotFound
from feedmill.model.account import Actor
from feedmill.outbound.blocks import BlockedHosts
from feedmill.outbound.failures import Rejected
from feedmill.outbound.urls import parse
from feedmill.store.blocked_hosts import add_blocked, drop_blocked, read_blocked
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class Blocking:
    """What was done: so many feeds of the host rest now, or are due again."""

    host: str
    feeds: int


def read_host(text: str) -> str:
    """The host that somebody typed, alone or within an address, in the form in which hosts are asked."""
    typed = text.strip()
    try:
        return parse(typed if "://" in typed else f"https://{typed}").host
    except Rejected as error:
        raise BadInput(f"this is no host: {error}", field="host") from error


async def block_host(db: Database, blocks: BlockedHosts, text: str, by: Actor, now: datetime) -> Blocking:
    """Nobody asks the host any more, nor any below it; its feeds rest and say why. Doing it twice does no harm."""
    host = read_host(text)
    resting = await add_blocked(db, host, by, now)
    blocks.forget()
    return Blocking(host, resting)


async def unblock_host(db: Database, blocks: BlockedHosts, host: str, by: Actor, now: datetime) -> Blocking:
    """The host may be asked again; feeds that rest because of the block are due at once."""
    if not (host.isascii() and host.isprintable()) or await read_blocked(db, host) is None:
        raise NotFound("this host is not blocked")
    due = await drop_blocked(db, host, by, now)
    blocks.forget()
    return Blocking(host, due)
