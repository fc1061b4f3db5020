"""`/api/admin/users`: lists, creates, changes and deletes users."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Literal, Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator

from feedmill.app import App
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.cursors import cursor_at
from feedmill.library.users.manage_users import make_user, remove_user, set_password
from feedmill.model.max_id import MAX_ID
from feedmill.serve.http.auth import actor
from feedmill.serve.http.paginate import decode_cursor, split_page
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.dependencies import Admin, TheApp
from feedmill.serve.rest.core.errors import problem_responses
from feedmill.serve.rest.core.field_types import PathId, StrictBool
from feedmill.serve.rest.core.page_parameters import Cursor, Limit
from feedmill.serve.rest.users.schemas import AccessEndedResponse, NewPassword, RegistrationRequest
from feedmill.store.admin.users import UserSummary, read_user_summary, update_user, users_page
from feedmill.store.archive.user_storage_usage import archived_bytes_by_user

router = APIRouter(prefix="/admin/users", tags=["admin"])

UserStatus = Literal["active", "disabled"]
Quota = Annotated[int, Field(ge=0, lt=MAX_ID)]


class UserResponse(BaseModel):
    id: int
    name: str
    status: UserStatus
    is_admin: bool
    feeds: int = Field(description="The number of subscriptions of the user.")
    quota_feeds: int | None = Field(description="The maximum; null for no limit.")
    kept_bytes: int = Field(
        description="The storage used by their feeds; a feed with several subscribers counts for each."
    )
    quota_bytes: int | None = Field(description="The maximum storage in bytes; null for no limit.")
    created_at: datetime
    last_seen_at: datetime | None
    two_factor_at: datetime | None = Field(description="Since when signing in needs two factors; null if it does not.")

    @classmethod
    def of(cls, account: UserSummary, kept_bytes: int = 0) -> "UserResponse":
        user = {name: getattr(account.user, name) for name in account.user.__slots__ if name in cls.model_fields}
        return cls.model_validate(user | {"feeds": account.feeds, "kept_bytes": kept_bytes})


class UserPage(BaseModel):
    items: list[UserResponse]
    next: str | None


class NewUser(RegistrationRequest):
    is_admin: bool = False


class UserChanges(RequestBody):
    """Fields that are left out are not changed."""

    status: UserStatus | None = Field(None, description="A disabled user can't sign in, and is signed out at once.")
    is_admin: bool | None = None
    quota_feeds: Quota | None = Field(None, description="The maximum number of feeds; null for no limit.")
    quota_bytes: Quota | None = Field(None, description="The maximum storage in bytes; null for no limit.")
    password: NewPassword | None = Field(None, description="A new password; it signs the user out everywhere.")
    revoke_keys: StrictBool = Field(False, description="With a new password: also revoke all API keys of the user.")

    @model_validator(mode="after")
    def _revokes_with_password(self) -> Self:
        if self.revoke_keys and self.password is None:
            raise ValueError("revoke_keys needs a new password")
        return self


class UserChangedResponse(UserResponse):
    ended: AccessEndedResponse | None = Field(
        None, description="What the new password has ended, and which API keys are still valid."
    )


@router.get("")
async def list_users(app: TheApp, who: Admin, limit: Limit = 50, cursor: Cursor = None) -> UserPage:
    """All accounts, oldest first."""
    found = await users_page(app.db, decode_cursor(cursor, 0), limit + 1)
    page, last = split_page(found, limit)
    kept = await archived_bytes_by_user(app.db, [one.user.id for one in page])
    items = [UserResponse.of(one, kept[one.user.id]) for one in page]
    return UserPage(items=items, next=cursor_at(last.user.id) if last else None)


@router.post("", status_code=201, responses=problem_responses(409))
async def create_user(app: TheApp, who: Admin, request: Request, new: NewUser) -> UserResponse:
    """Creates an account."""
    now = datetime.now(UTC)
    user = await make_user(app.db, new.name, new.password, new.is_admin, now, actor(who, request))
    return UserResponse.of(UserSummary(user, 0))


@router.get("/{user_id}", responses=problem_responses(404))
async def read_user(app: TheApp, who: Admin, user_id: PathId) -> UserResponse:
    return await _user_response(app, user_id)


@router.patch("/{user_id}", responses=problem_responses(404, 409))
async def change_user(
    app: TheApp, who: Admin, request: Request, user_id: PathId, changes: UserChanges
) -> UserChangedResponse:
    """Disables or enables an account, grants or removes admin rights, sets quotas or a new password."""
    now, by = datetime.now(UTC), actor(who, request)
    before = (await _find_user(app, user_id)).user
    ended = None
    if changes.password is not None:
        revoke_keys = changes.revoke_keys
        ended = AccessEndedResponse.of(
            await set_password(app.db, before, changes.password, None, now, by, revoke_keys=revoke_keys)
        )
    given = changes.model_dump(exclude_unset=True, exclude={"password", "revoke_keys"})
    quotas = {name: given[name] for name in ("quota_feeds", "quota_bytes") if name in given}
    others = {name: given[name] for name in ("status", "is_admin") if given.get(name) is not None}
    if quotas or others:
        await update_user(app.db, before, replace(before, **quotas, **others), by, now)
    return UserChangedResponse(**(await _user_response(app, user_id)).model_dump(), ended=ended)


@router.delete("/{user_id}", status_code=204, responses=problem_responses(404, 409))
async def delete_user(app: TheApp, who: Admin, request: Request, user_id: PathId) -> None:
    """Deletes an account with all its data, including its private feeds with entries, images and raw bodies.

    A private feed is fetched with the user's own password, and nobody else may read it. Other feeds stay.
    """
    account = await _find_user(app, user_id)
    await remove_user(app.db, account.user, actor(who, request), datetime.now(UTC))


async def _user_response(app: App, user_id: int) -> UserResponse:
    return UserResponse.of(await _find_user(app, user_id), (await archived_bytes_by_user(app.db, [user_id]))[user_id])


async def _find_user(app: App, user_id: int) -> UserSummary:
    found = await read_user_summary(app.db, user_id)
    if found is None:
        raise NotFound(Message("error.no_such_user"))
    return found
