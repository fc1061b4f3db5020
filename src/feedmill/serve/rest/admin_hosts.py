"""`/api/admin/hosts` and `/api/admin/blocked-hosts`: how each host fares, and which nobody asks."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from feedmill.library.blocking import block_host, unblock_host
from feedmill.library.hosts import see_hosts
from feedmill.serve.rest.admin_users import actor
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import Address
from feedmill.serve.rest.parts import Admin, TheApp
from feedmill.serve.rest.problems import described
from feedmill.store.blocked_hosts import blocked_page

router = APIRouter(prefix="/admin", tags=["admin"])

HostName = Annotated[str, Path(max_length=255, pattern=r"^[^\x00-\x20\x7f]+$")]


class HostShown(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    host: str
    feeds: int
    failing: int
    last_fetched_at: datetime | None
    next_fetch_at: datetime | None
    requests: int = Field(description="How often its feeds were fetched in the last day.")
    errors: int = Field(description="How many of those fetches failed.")
    bytes: int = Field(description="What they brought over the wire.")
    per_hour: float = Field(description="Fetches an hour, over the last day.")
    rests_until: datetime | None = Field(description="Its server asked for a rest (Retry-After) until then.")
    blocked: bool = Field(description="Whether it, or a host above it, is blocked.")


class HostPage(BaseModel):
    items: list[HostShown]
    next: str | None


class HostToBlock(BaseModel):
    host: Address = Field(description="The host's name or address, or any URL there.")


class HostBlocked(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    host: str
    at: datetime
    user_name: str | None = Field(description="Who blocked it; null when they are gone.")


class BlockedPage(BaseModel):
    items: list[HostBlocked]
    next: str | None


class BlockingDone(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    host: str
    feeds: int = Field(description="How many feeds rest now because of it, or are due again.")


@router.get("/hosts")
async def list_hosts(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> HostPage:
    """The hosts that feeds come from, by name, with the load of the last day."""
    now, turns = datetime.now(UTC), app.coordination.turns
    page, last = cut(await see_hosts(app.db, turns, place_at(cursor, ""), limit + 1, now), limit)
    return HostPage(
        items=[HostShown.model_validate(host) for host in page], next=cursor_at(last.host) if last else None
    )


@router.get("/blocked-hosts")
async def list_blocked_hosts(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> BlockedPage:
    """The hosts that nobody asks, by name."""
    page, last = cut(await blocked_page(app.db, place_at(cursor, ""), limit + 1), limit)
    return BlockedPage(
        items=[HostBlocked.model_validate(host) for host in page], next=cursor_at(last.host) if last else None
    )


@router.post("/blocked-hosts")
async def block_a_host(app: TheApp, who: Admin, request: Request, wanted: HostToBlock) -> BlockingDone:
    """Nothing is asked of the host any more, nor of any below it; its feeds rest and say why."""
    done = await block_host(app.db, app.blocks, wanted.host, actor(who, request), datetime.now(UTC))
    return BlockingDone.model_validate(done)


@router.delete("/blocked-hosts/{host}", responses=described(404))
async def unblock_a_host(app: TheApp, who: Admin, request: Request, host: HostName) -> BlockingDone:
    """The host is asked again; feeds that rest because of the block are due at once."""
    done = await unblock_host(app.db, app.blocks, host, actor(who, request), datetime.now(UTC))
    return BlockingDone.model_validate(done)
