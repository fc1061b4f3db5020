"""`/api/pools`: groups of entries that are handed on to programs."""

from typing import Annotated

from fastapi import APIRouter, Path

from feedmill.model.pool import PoolOptions
from feedmill.serve.rest.parts import Admin, PoolUser, TheApp
from feedmill.serve.rest.pool_forms import GroupChanges, GroupPage, GroupShown, NewGroup
from feedmill.serve.rest.problems import described

router = APIRouter(prefix="/pools", tags=["pools"])

GroupName = Annotated[str, Path(min_length=1, max_length=190, description="The group's name or id.")]


@router.get("")
async def list_pool_groups(app: TheApp, who: PoolUser) -> GroupPage:
    """All groups."""
    return GroupPage(items=[GroupShown.of(group) for group in await app.pools.groups()])


@router.post("", status_code=201, responses=described(409))
async def create_pool_group(app: TheApp, who: Admin, new: NewGroup) -> GroupShown:
    """Makes a group; entries that are there join within the minute, new ones as they are fetched."""
    blank = PoolOptions()
    group = await app.pools.create(new.name, new.rule.rule(), new.titles.over(blank), new.contents.over(blank))
    return GroupShown.of(group)


@router.get("/{group}", responses=described(404))
async def read_pool_group(app: TheApp, who: PoolUser, group: GroupName) -> GroupShown:
    return GroupShown.of(await app.pools.group(group))


@router.patch("/{group}", responses=described(404, 409))
async def change_pool_group(app: TheApp, who: Admin, group: GroupName, changes: GroupChanges) -> GroupShown:
    """Changes a group; items that it has already stay."""
    known = await app.pools.group(group)
    return GroupShown.of(await app.pools.change(known.id, **changes.over(known)))


@router.delete("/{group}", status_code=204, responses=described(404))
async def delete_pool_group(app: TheApp, who: Admin, group: GroupName) -> None:
    """Deletes a group with all its items and forgets which were used; entries stay."""
    await app.pools.delete(group)


@router.post("/{group}/pause", responses=described(404))
async def pause_pool_group(app: TheApp, who: Admin, group: GroupName) -> GroupShown:
    """Hands out nothing of the group; entries still join it."""
    return GroupShown.of(await app.pools.change(group, paused=True))


@router.post("/{group}/resume", responses=described(404))
async def resume_pool_group(app: TheApp, who: Admin, group: GroupName) -> GroupShown:
    return GroupShown.of(await app.pools.change(group, paused=False))
