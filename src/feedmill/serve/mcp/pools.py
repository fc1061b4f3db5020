"""Tools about pools: the groups that the caller may take from, and taking from one, which needs a confirmation."""

from typing import Annotated

from pydantic import BaseModel, Field

from feedmill.html.plain_text import cut_text
from feedmill.model.pool import Guarantee, PoolItem, PoolKind
from feedmill.model.user import POOLS
from feedmill.serve.mcp.confirm import (
    ConfirmableArguments,
    ConfirmableResult,
    ask_for_confirmation,
    use_confirmation,
)
from feedmill.serve.mcp.tool_definitions import ToolArguments, ToolCall, ToolEffect, ToolResult, tool

MOST_ITEMS = 20
LONGEST_ITEM = 5000
TAKER = "mcp"

PoolGroupText = Annotated[str, Field(min_length=1, max_length=190, description="The name or id of the group.")]


class NoArguments(ToolArguments):
    pass


class TakeArguments(ConfirmableArguments):
    group: PoolGroupText
    kind: PoolKind = Field(PoolKind.TITLES)
    count: int = Field(1, ge=1, le=MOST_ITEMS, description="How many items at most.")


class McpPoolGroup(BaseModel):
    id: int
    name: str
    paused: bool
    can_take: list[PoolKind] = Field(description="The pools of this group that take_from_pool takes from.")


class PoolListResult(ToolResult):
    groups: list[McpPoolGroup]


class TakeResult(ConfirmableResult):
    item_ids: list[int] = Field(default=[])


@tool("List pools", POOLS, ToolEffect.READS)
async def list_pools(call: ToolCall, asked: NoArguments) -> PoolListResult:
    """Lists the pool groups that the user may take from."""
    groups = await call.app.pools.groups_for(call.who)
    return PoolListResult(
        groups=[
            McpPoolGroup(
                id=group.id,
                name=group.name,
                paused=group.paused,
                can_take=[kind for kind in PoolKind if group.options(kind).guarantee is Guarantee.AT_MOST_ONCE],
            )
            for group in groups
        ]
    )


@tool("Take from a pool", POOLS, ToolEffect.DESTROYS)
async def take_from_pool(call: ToolCall, asked: TakeArguments) -> TakeResult:
    """Takes items out of a pool for good: nobody else gets them, and they do not come back. The first call says what
    would happen and returns a token; ask the user, and call again with it."""
    group = await call.app.pools.group_for(call.who, asked.group)
    target = f"group={group.id} kind={asked.kind} count={asked.count}"
    if asked.confirmation is None:
        available = (await call.app.pools.status(group.id, asked.kind)).counts
        summary = f"Up to {asked.count} of {available.available + available.queued} {asked.kind} would be used up."
        return TakeResult(**ask_for_confirmation(call, take_from_pool.name, target, summary).model_dump())
    await use_confirmation(call, take_from_pool.name, target, asked.confirmation)
    items = await call.app.pools.pop(group.id, asked.kind, asked.count, TAKER)
    texts = [f"## Item {item.id}\n\n{_shown_text(item)}" for item in items]
    return TakeResult(
        done=True,
        summary=f"{len(items)} {asked.kind} were taken.",
        item_ids=[item.id for item in items],
        untrusted_text="\n\n".join(texts),
    )


def _shown_text(item: PoolItem) -> str:
    rest = f"\n[cut: GET /api/pools/items/{item.id} has the rest]" if len(item.text) > LONGEST_ITEM else ""
    return cut_text(item.text, LONGEST_ITEM) + rest


TOOLS = (list_pools, take_from_pool)
