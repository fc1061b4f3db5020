"""`/api/me`: who am I?"""

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel

from feedmill.serve.rest.parts import Reader

router = APIRouter(prefix="/me", tags=["me"])


class Me(BaseModel):
    id: int
    name: str
    is_admin: bool
    scopes: list[str]
    created_at: datetime


@router.get("")
async def read_me(who: Reader) -> Me:
    """Who the key or session belongs to, and what it may do."""
    user = who.user
    return Me(
        id=user.id, name=user.name, is_admin=user.is_admin, scopes=sorted(who.scopes), created_at=user.created_at
    )
