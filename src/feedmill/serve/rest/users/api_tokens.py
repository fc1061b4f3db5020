"""`/api/tokens`: lists, creates and revokes API tokens."""

from datetime import UTC, datetime

from fastapi import APIRouter

from feedmill.library.users import api_tokens
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.users.schemas import ApiTokenPage, ApiTokenResponse, CreatedApiToken, NewApiToken

router = APIRouter(prefix="/tokens", tags=["keys"])


@router.get("")
async def list_api_tokens(app: TheApp, who: Reader) -> ApiTokenPage:
    """Your keys, the newest first; never the keys themselves."""
    found = await api_tokens.list_api_tokens(app.db, who, datetime.now(UTC))
    return ApiTokenPage(items=[ApiTokenResponse.of(token) for token in found])


@router.post("", status_code=201)
async def create_token(app: TheApp, who: Writer, new: NewApiToken) -> CreatedApiToken:
    """Makes a key, and shows it this once.

    It may do no more than what you make it with. One that is made with another key also ends no later, is revoked with
    it and makes no further keys.
    """
    now = datetime.now(UTC)
    secret, token = await api_tokens.create_api_token(
        app.db, who, new.name, new.scopes, new.expires_at, now, new.pool_groups
    )
    return CreatedApiToken(key=secret, **ApiTokenResponse.of(token).model_dump())


@router.delete("/{token_id}", status_code=204, responses=problem_responses(404))
async def revoke_api_token(app: TheApp, who: Writer, token_id: PathId) -> None:
    """Takes a key back for good, with the keys that were made with it."""
    await api_tokens.revoke_api_token(app.db, who, token_id, datetime.now(UTC))
