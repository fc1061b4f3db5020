"""`/api/admin/hosts` and `/api/admin/blocked-hosts`: load per host, and blocking hosts."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from feedmill.library.admin.blocked_hosts import block_host, unblock_host
from feedmill.library.admin.hosts import hosts_overview
from feedmill.library.cursors import cursor_at
from feedmill.serve.http.auth import actor
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import UrlText
from feedmill.serve.rest.core.page_parameters import Cursor, Limit
from feedmill.store.admin.blocked_hosts import blocked_hosts_page

router = APIRouter(prefix="/admin", tags=["admin"])

HostPathParameter = Annotated[str, Path(max_length=255, pattern=r"^[^\x00-\x20\x7f]+$")]


class HostResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    host: str
    feeds: int
    failing: int
    last_fetched_at: datetime | None
    next_fetch_at: datetime | None
    requests: int = Field(description="The number of fetches of its feeds in the last day.")
    errors: int = Field(description="The number of failed fetches.")
    bytes: int = Field(description="The bytes received.")
    per_hour: float = Field(description="Fetches per hour, over the last day.")
    rests_until: datetime | None = Field(description="Its server asked us to wait until then (Retry-After).")
    blocked: bool = Field(description="Whether it, or a parent domain, is blocked.")


class HostPage(BaseModel):
    items: list[HostResponse]
    next: str | None


class BlockHostRequest(RequestBody):
    host: UrlText = Field(description="The host's name or address, or any URL there.")


class BlockedHostResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    host: str
    at: datetime
    user_name: str | None = Field(description="Who blocked it; null if that account was deleted.")


class BlockedHostPage(BaseModel):
    items: list[BlockedHostResponse]
    next: str | None


class BlockHostResponse(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    host: str
    feeds: int = Field(description="The number of feeds that rest because of it, or are due again.")


@router.get("/hosts")
async def list_hosts(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> HostPage:
    """The hosts of all feeds, by name, with the load of the last day."""
    now, turns = datetime.now(UTC), app.coordination.host_slots
    page, last = split_page(await hosts_overview(app.db, turns, decode_cursor(cursor, ""), limit + 1, now), limit)
    return HostPage(
        items=[HostResponse.model_validate(host) for host in page], next=cursor_at(last.host) if last else None
    )


@router.get("/blocked-hosts")
async def list_blocked_hosts(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> BlockedHostPage:
    """The blocked hosts, by name."""
    page, last = split_page(await blocked_hosts_page(app.db, decode_cursor(cursor, ""), limit + 1), limit)
    return BlockedHostPage(
        items=[BlockedHostResponse.model_validate(host) for host in page], next=cursor_at(last.host) if last else None
    )


@router.post("/blocked-hosts")
async def block_a_host(app: TheApp, who: Admin, request: Request, body: BlockHostRequest) -> BlockHostResponse:
    """Blocks a host and its subdomains: no requests are sent to them; their feeds rest and show why."""
    done = await block_host(app.db, app.blocks, body.host, actor(who, request), datetime.now(UTC))
    return BlockHostResponse.model_validate(done)


@router.delete("/blocked-hosts/{host}", responses=problem_responses(404))
async def unblock_a_host(app: TheApp, who: Admin, request: Request, host: HostPathParameter) -> BlockHostResponse:
    """Unblocks a host; feeds that rest because of the block are due at once."""
    done = await unblock_host(app.db, app.blocks, host, actor(who, request), datetime.now(UTC))
    return BlockHostResponse.model_validate(done)
