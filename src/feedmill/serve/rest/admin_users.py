"""`/api/admin/users`: the accounts, for an admin. What people read is not to be seen here."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.library.accounts import add_account, remove_account, set_password
from feedmill.model.account import Actor, Caller
from feedmill.serve.auth import origin_of
from feedmill.serve.rest.account_forms import NewAccount, NewPassword
from feedmill.serve.rest.cursors import Cursor, Limit, cursor_at, cut, place_at
from feedmill.serve.rest.fields import MOST_ID, PathId
from feedmill.serve.rest.parts import Admin, TheApp
from feedmill.serve.rest.problems import described
from feedmill.store.administration import Account, accounts_page, change_account, read_account
from feedmill.store.space import bytes_of_users

router = APIRouter(prefix="/admin/users", tags=["admin"])

Status = Literal["active", "disabled"]
Quota = Annotated[int, Field(ge=0, lt=MOST_ID)]


class UserShown(BaseModel):
    id: int
    name: str
    status: Status
    is_admin: bool
    feeds: int = Field(description="How many feeds the user is subscribed to.")
    quota_feeds: int | None = Field(description="How many they may be; null for any number.")
    kept_bytes: int = Field(description="What is kept of their feeds; a feed of several people counts for each.")
    quota_bytes: int | None = Field(description="How many bytes they may keep; null for any number.")
    created_at: datetime
    last_seen_at: datetime | None

    @classmethod
    def of(cls, account: Account, kept_bytes: int = 0) -> "UserShown":
        user = {name: getattr(account.user, name) for name in account.user.__slots__ if name in cls.model_fields}
        return cls.model_validate(user | {"feeds": account.feeds, "kept_bytes": kept_bytes})


class UserPage(BaseModel):
    items: list[UserShown]
    next: str | None


class NewUser(NewAccount):
    is_admin: bool = False


class UserChanges(BaseModel):
    """What is left out stays as it is."""

    status: Status | None = Field(None, description="Who is disabled can't sign in, and is signed out at once.")
    is_admin: bool | None = None
    quota_feeds: Quota | None = Field(None, description="How many feeds they may subscribe to; null for any number.")
    quota_bytes: Quota | None = Field(None, description="How many bytes they may keep; null for any number.")
    password: NewPassword | None = Field(None, description="A new password; it signs the user out everywhere.")


def actor(who: Caller, request: Request) -> Actor:
    """Who it is that is written down."""
    return Actor(who.user.id, origin_of(request).address)


@router.get("")
async def list_users(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> UserPage:
    """All accounts, the oldest first."""
    found = await accounts_page(app.db, place_at(cursor, 0), limit + 1)
    page, last = cut(found, limit)
    kept = await bytes_of_users(app.db, [one.user.id for one in page])
    items = [UserShown.of(one, kept[one.user.id]) for one in page]
    return UserPage(items=items, next=cursor_at(last.user.id) if last else None)


@router.post("", status_code=201, responses=described(409))
async def create_user(app: TheApp, who: Admin, request: Request, new: NewUser) -> UserShown:
    """Makes an account."""
    now = datetime.now(UTC)
    user = await add_account(app.db, new.name, new.password, new.is_admin, now, actor(who, request))
    return UserShown.of(Account(user, 0))


@router.get("/{user_id}", responses=described(404))
async def read_user(app: TheApp, who: Admin, user_id: PathId) -> UserShown:
    return await _shown(app, user_id)


@router.patch("/{user_id}", responses=described(404, 409))
async def change_user(app: TheApp, who: Admin, request: Request, user_id: PathId, changes: UserChanges) -> UserShown:
    """Disables or enables an account, gives or takes power, sets quotas or a new password."""
    now, by = datetime.now(UTC), actor(who, request)
    before = (await _account(app, user_id)).user
    if changes.password is not None:
        await set_password(app.db, before, changes.password, None, now, by)
    given = changes.model_dump(exclude_unset=True, exclude={"password"})
    quotas = {name: given[name] for name in ("quota_feeds", "quota_bytes") if name in given}
    others = {name: given[name] for name in ("status", "is_admin") if given.get(name) is not None}
    if quotas or others:
        await change_account(app.db, before, replace(before, **quotas, **others), by, now)
    return await _shown(app, user_id)


@router.delete("/{user_id}", status_code=204, responses=described(404, 409))
async def delete_user(app: TheApp, who: Admin, request: Request, user_id: PathId) -> None:
    """Deletes an account with all that is the user's own; feeds and what they brought stay."""
    account = await _account(app, user_id)
    await remove_account(app.db, account.user, actor(who, request), datetime.now(UTC))


async def _shown(app: App, user_id: int) -> UserShown:
    return UserShown.of(await _account(app, user_id), (await bytes_of_users(app.db, [user_id]))[user_id])


async def _account(app: App, user_id: int) -> Account:
    found = await read_account(app.db, user_id)
    if found is None:
        raise NotFound("there is no such user")
    return found
