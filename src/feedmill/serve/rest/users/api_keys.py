"""`/api/api-keys`: lists, creates and revokes API keys."""

from datetime import UTC, datetime

from fastapi import APIRouter

from feedmill.library.users import api_keys
from feedmill.serve.rest.core.dependencies import Reader, TheApp, Writer
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId
from feedmill.serve.rest.users.schemas import ApiKeyPage, ApiKeyResponse, CreatedApiKey, NewApiKey

router = APIRouter(prefix="/api-keys", tags=["API keys"])


@router.get("")
async def list_api_keys(app: TheApp, who: Reader) -> ApiKeyPage:
    """Your API keys, the newest first; never the keys themselves."""
    found = await api_keys.list_api_keys(app.db, who, datetime.now(UTC))
    return ApiKeyPage(items=[ApiKeyResponse.of(key) for key in found])


@router.post("", status_code=201)
async def create_api_key(app: TheApp, who: Writer, new: NewApiKey) -> CreatedApiKey:
    """Creates an API key, and shows it only once.

    It has no more rights than its creator. A key that is created with another key expires no later, is revoked
    with it and can't create further keys.
    """
    now = datetime.now(UTC)
    secret, key = await api_keys.create_api_key(app.db, who, new.name, new.scopes, new.expires_at, now, new.pool_groups)
    return CreatedApiKey(key=secret, **ApiKeyResponse.of(key).model_dump())


@router.delete("/{key_id}", status_code=204, responses=problem_responses(404))
async def revoke_api_key(app: TheApp, who: Writer, key_id: PathId) -> None:
    """Revokes an API key, and the keys that were created with it."""
    await api_keys.revoke_api_key(app.db, who, key_id, datetime.now(UTC))
