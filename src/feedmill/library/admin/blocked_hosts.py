"""Blocks and unblocks a host for all users."""

from dataclasses import dataclass
from datetime import datetime

from feedmill.errors import BadInput, NotFound
from feedmill.i18n.messages import Message
from feedmill.model.user import Actor
from feedmill.outbound.blocked_hosts import BlockedHosts
from feedmill.outbound.errors import RefusedError
from feedmill.outbound.urls import parse_url
from feedmill.store.admin.blocked_hosts import add_blocked_host, read_blocked_host, remove_blocked_host
from feedmill.store.database import Database


@dataclass(frozen=True, slots=True)
class BlockResult:
    """The host, and how many of its feeds are now at rest or due again."""

    host: str
    feeds: int


def parse_blocked_host(text: str) -> str:
    """The host in a typed host name or URL, normalized; raises `BadInput`."""
    typed = text.strip()
    try:
        return parse_url(typed if "://" in typed else f"https://{typed}").host
    except RefusedError as error:
        raise BadInput(Message("error.not_a_host", what=error.message), field="host") from error


async def block_host(db: Database, blocks: BlockedHosts, text: str, by: Actor, now: datetime) -> BlockResult:
    """Blocks a host and its subdomains for everybody; its feeds rest. Blocking it again changes nothing."""
    host = parse_blocked_host(text)
    resting = await add_blocked_host(db, host, by, now)
    blocks.forget()
    return BlockResult(host, resting)


async def unblock_host(db: Database, blocks: BlockedHosts, host: str, by: Actor, now: datetime) -> BlockResult:
    """Unblocks a host; feeds that rest because of the block are due at once."""
    if not (host.isascii() and host.isprintable()) or await read_blocked_host(db, host) is None:
        raise NotFound(Message("error.host_not_blocked"))
    due = await remove_blocked_host(db, host, by, now)
    blocks.forget()
    return BlockResult(host, due)
