"""`/api/pools`: lists, creates, changes, pauses and deletes pool groups."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Request

from feedmill.model.pool import LossPolicy, PoolGroup, PoolOptions
from feedmill.serve.http.auth import actor
from feedmill.serve.rest.core.dependencies import Admin, PoolUser, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.pools.group_schemas import NewPoolGroup, PoolGroupChanges, PoolGroupPage, PoolGroupResponse

router = APIRouter(prefix="/pools", tags=["pools"])

GroupParameter = Annotated[str, Path(min_length=1, max_length=190, description="The group's name or id.")]


async def _granted_group(app: TheApp, who: PoolUser, group: GroupParameter) -> PoolGroup:
    return await app.pools.group_for(who, group)


# The group in the path; 404 for a caller who may not take from it.
GrantedGroup = Annotated[PoolGroup, Depends(_granted_group)]


@router.get("")
async def list_pool_groups(app: TheApp, who: PoolUser) -> PoolGroupPage:
    """The groups that you may take from; an admin may take from all."""
    return PoolGroupPage(items=[PoolGroupResponse.of(group) for group in await app.pools.groups_for(who)])


@router.post("", status_code=201, responses=problem_responses(409))
async def create_pool_group(app: TheApp, who: Admin, request: Request, new: NewPoolGroup) -> PoolGroupResponse:
    """Creates a group; existing entries join within a minute, new ones when they are fetched."""
    blank, rule = PoolOptions(), new.rule.rule(who.user.name)
    options, loss = (new.titles.over(blank), new.contents.over(blank)), new.loss(LossPolicy())
    created = await app.pools.create(new.name, rule, *options, loss=loss, by=actor(who, request))
    return PoolGroupResponse.of(created)


@router.get("/{group}", responses=problem_responses(404))
async def read_pool_group(app: TheApp, group: GrantedGroup) -> PoolGroupResponse:
    # Read again: `group` may come from the cache of this process.
    return PoolGroupResponse.of(await app.pools.group(group.id))


@router.patch("/{group}", responses=problem_responses(404, 409))
async def change_pool_group(
    app: TheApp, who: Admin, request: Request, group: GroupParameter, changes: PoolGroupChanges
) -> PoolGroupResponse:
    """Changes a group; its existing items stay."""
    known = await app.pools.group(group)
    changed = changes.over(known, who.user.name)
    return PoolGroupResponse.of(await app.pools.change(known.id, by=actor(who, request), **changed))


@router.delete("/{group}", status_code=204, responses=problem_responses(404))
async def delete_pool_group(app: TheApp, who: Admin, request: Request, group: GroupParameter) -> None:
    """Deletes a group with all its items and the record of used ones; entries stay."""
    await app.pools.delete(group, by=actor(who, request))


@router.post("/{group}/pause", responses=problem_responses(404))
async def pause_pool_group(app: TheApp, who: Admin, request: Request, group: GroupParameter) -> PoolGroupResponse:
    """Pauses a group: nothing is handed out; entries still join it."""
    return PoolGroupResponse.of(await app.pools.change(group, by=actor(who, request), paused=True))


@router.post("/{group}/resume", responses=problem_responses(404))
async def resume_pool_group(app: TheApp, who: Admin, request: Request, group: GroupParameter) -> PoolGroupResponse:
    return PoolGroupResponse.of(await app.pools.change(group, by=actor(who, request), paused=False))
