"""`POST /api/pools/{group}/{titles|contents}`: other programs put texts into a pool."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from feedmill.api_schemas.pools import AddedTextsResponse
from feedmill.app import App
from feedmill.errors import TooLarge
from feedmill.i18n.messages import Message
from feedmill.model.pool import PoolGroup, PoolKind, PoolRight
from feedmill.model.user import Caller
from feedmill.run_in_thread import run_in_thread_if_large
from feedmill.serve.http.body_limits import with_body_limit
from feedmill.serve.rest.core.dependencies import PoolFiller, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.pools.groups import GroupParameter
from feedmill.serve.rest.pools.text_schemas import read_texts, request_body

router = APIRouter(prefix="/pools", tags=["pools"])

MAX_BYTES = 8_000_000


async def _fillable_group(app: TheApp, who: PoolFiller, group: GroupParameter) -> PoolGroup:
    return await app.pools.group_for(who, group, PoolRight.FILL)


# The group in the path; 404 for a caller who may not fill it.
FillableGroup = Annotated[PoolGroup, Depends(_fillable_group)]


# Two routes rather than a parameter: a POST to `/{group}/grants` is a wrong method, not a wrong kind.
@router.post("/{group}/titles", openapi_extra=request_body(), responses=problem_responses(404, 409, 413))
async def add_titles(app: TheApp, who: PoolFiller, request: Request, group: FillableGroup) -> AddedTextsResponse:
    """Puts one title or several into the pool, in their order; one whose id is known changes nothing.

    Stored before the response. After an error send them again: what was stored is not stored twice.
    """
    return await _add(app, who, request, group, PoolKind.TITLES)


@router.post("/{group}/contents", openapi_extra=request_body(), responses=problem_responses(404, 409, 413))
async def add_contents(app: TheApp, who: PoolFiller, request: Request, group: FillableGroup) -> AddedTextsResponse:
    """Puts one content or several into the pool, as `POST /pools/{group}/titles` does."""
    return await _add(app, who, request, group, PoolKind.CONTENTS)


async def _add(app: App, who: Caller, request: Request, group: PoolGroup, kind: PoolKind) -> AddedTextsResponse:
    too_large = TooLarge(Message("error.pool_texts_too_large", megabytes=MAX_BYTES // 1_000_000))
    body = await with_body_limit(request, MAX_BYTES, too_large).body()
    texts = await run_in_thread_if_large(len(body), read_texts, body, kind, app.tools.clock())
    stored = await app.pools.add_texts(group.id, kind, texts, who.user.name)
    return AddedTextsResponse(added=stored.added, known=stored.known)
