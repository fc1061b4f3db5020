"""`/api/tokens`: keys that a person makes for programs."""

from datetime import UTC, datetime

from fastapi import APIRouter

from feedmill.errors import NotFound
from feedmill.library.api_keys import make_key
from feedmill.serve.rest.account_forms import KeyMade, KeyPage, KeyShown, NewKey
from feedmill.serve.rest.fields import PathId
from feedmill.serve.rest.parts import Reader, TheApp, Writer
from feedmill.serve.rest.problems import described
from feedmill.store.tokens import revoke_token, tokens_of

router = APIRouter(prefix="/tokens", tags=["keys"])


@router.get("")
async def list_keys(app: TheApp, who: Reader) -> KeyPage:
    """Your keys, the newest first; never the keys themselves."""
    found = await tokens_of(app.db, who.user.id, datetime.now(UTC))
    return KeyPage(items=[KeyShown.of(token) for token in found])


@router.post("", status_code=201)
async def create_key(app: TheApp, who: Writer, new: NewKey) -> KeyMade:
    """Makes a key, and shows it this once. It may do no more than what you make it with."""
    secret, token = await make_key(app.db, who, new.name, new.scopes, new.expires_at, datetime.now(UTC))
    return KeyMade(key=secret, **KeyShown.of(token).model_dump())


@router.delete("/{token_id}", status_code=204, responses=described(404))
async def revoke_key(app: TheApp, who: Writer, token_id: PathId) -> None:
    """Takes a key back for good."""
    if not await revoke_token(app.db, who.user.id, token_id, datetime.now(UTC)):
        raise NotFound("you have no such key")
