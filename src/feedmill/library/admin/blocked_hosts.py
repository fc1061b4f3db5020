"""Blocks and unblocks a host for all users."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.errors import BadInput, NotFound
from feedmill.model.user import Actor
from feedmill.outbound.blocked_hosts import BlockedHosts
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.urls import parse_url
from feedmill.store.admin.blocked_hosts import add_blocked_host, read_blocked_host, remove_blocked_host
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class BlockResult:
    """What was done: so many feeds of the host rest now, or are due again."""

    host: str
    feeds: int


def parse_blocked_host(text: str) -> str:
    """The host that somebody typed, alone or within an address, in the form in which hosts are asked."""
    typed = text.strip()
    try:
        return parse_url(typed if "://" in typed else f"https://{typed}").host
    except RefusedError as error:
        raise BadInput(f"this is no host: {error}", field="host") from error


async def block_host(db: Database, blocks: BlockedHosts, text: str, by: Actor, now: datetime) -> BlockResult:
    """Nobody asks the host any more, nor any below it; its feeds rest and say why. Doing it twice does no harm."""
    host = parse_blocked_host(text)
    resting = await add_blocked_host(db, host, by, now)
    blocks.forget()
    return BlockResult(host, resting)


async def unblock_host(db: Database, blocks: BlockedHosts, host: str, by: Actor, now: datetime) -> BlockResult:
    """The host may be asked again; feeds that rest because of the block are due at once."""
    if not (host.isascii() and host.isprintable()) or await read_blocked_host(db, host) is None:
        raise NotFound("this host is not blocked")
    due = await remove_blocked_host(db, host, by, now)
    blocks.forget()
    return BlockResult(host, due)
