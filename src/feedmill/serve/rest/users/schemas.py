"""Schemas of users, sessions, API keys and access tokens."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from feedmill.api_schemas.current_user import CurrentUser, Scope
from feedmill.library.users.passwords import MAX_LENGTH, MIN_LENGTH
from feedmill.library.users.second_factor import LONGEST_CODE
from feedmill.library.users.sign_in import Credentials
from feedmill.model.user import AccessEnded, ApiKey, Caller, Session
from feedmill.serve.http.csrf import csrf_token_for
from feedmill.serve.rest.core.base_models import RequestBody
from feedmill.serve.rest.core.field_types import ShortText, StrictBool, StrictTime

LoginName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Password = Annotated[str, StringConstraints(min_length=1, max_length=MAX_LENGTH, pattern=r"^[^\x00]*$")]
NewPassword = Annotated[str, StringConstraints(min_length=MIN_LENGTH, max_length=MAX_LENGTH, pattern=r"^[^\x00]*$")]


SecondFactor = Annotated[str, StringConstraints(max_length=LONGEST_CODE, pattern=r"^[^\x00]*$")]


class SignInRequest(RequestBody):
    name: LoginName = Field(description="The account's name, in upper or lower case.")
    password: Password
    code: SecondFactor = Field(
        "",
        description="For an account with two factors: the code of the authenticator app, or a recovery code.",
    )

    def credentials(self) -> Credentials:
        return Credentials(self.name, self.password, self.code)


class RegistrationRequest(RequestBody):
    name: LoginName = Field(description="Letters, digits or . _ - @ +, at most 64; stored in lower case.")
    password: NewPassword


def describe_caller(who: Caller, session: str | None) -> CurrentUser:
    """`session` is the token of the browser's session."""
    user = who.user
    return CurrentUser.model_validate(
        {
            "id": user.id,
            "name": user.name,
            "is_admin": user.is_admin,
            "scopes": sorted(who.scopes),
            "created_at": user.created_at,
            "quota_feeds": user.quota_feeds,
            "two_factor_at": user.two_factor_at,
            "csrf_token": csrf_token_for(session) if session else None,
        }
    )


class SessionResponse(BaseModel):
    id: int
    kind: Literal["browser", "jwt"] = Field(description="A person at a browser, or a program with access tokens.")
    is_current: bool = Field(description="Whether this request was made in it.")
    user_agent: str | None
    address: str | None = Field(description="The IP address at sign-in.")
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime = Field(description="When it expires if it is not used until then.")

    @classmethod
    def of(cls, session: Session, current: int | None) -> "SessionResponse":
        shown = {name: getattr(session, name) for name in session.__slots__}
        return cls.model_validate(shown | {"is_current": session.id == current})


class SessionPage(BaseModel):
    items: list[SessionResponse]
    next: str | None = None


class NewApiKey(RequestBody):
    name: ShortText = Field(description="What it is for.")
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=5)] = Field(description="What it may do.")
    expires_at: StrictTime | None = Field(
        None, description="When it expires; null for never, or for the expiry of the key that creates it."
    )
    pool_groups: Annotated[list[ShortText], Field(min_length=1, max_length=200)] | None = Field(
        None,
        description="The pool groups that it may take from or fill, by name or id; null for all that you may. "
        "Such a key has the scope `pools` or `fill`, and not `admin`.",
    )


class ApiKeyResponse(BaseModel):
    id: int
    name: str
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None = Field(description="When it was last used, to the minute.")
    expires_at: datetime | None
    parent_key_id: int | None = Field(
        description="The key that created it, with which it is revoked; null if a user created it."
    )
    pool_groups: list[str] | None = Field(
        description="The pool groups that it may take from; null for all that you may take from."
    )

    @classmethod
    def of(cls, key: ApiKey) -> "ApiKeyResponse":
        groups = None if key.pool_groups is None else [group.name for group in key.pool_groups]
        shown = {name: getattr(key, name) for name in key.__slots__}
        return cls.model_validate(shown | {"pool_groups": groups})


class CreatedApiKey(ApiKeyResponse):
    key: str = Field(description="The API key itself. It is shown only this once.")


class ApiKeyPage(BaseModel):
    items: list[ApiKeyResponse]
    next: str | None = None


class PasswordChange(RequestBody):
    current: Password
    new: NewPassword
    code: SecondFactor = Field("", description="As for signing in: for an account with two factors.")
    revoke_keys: StrictBool = Field(
        False, description="Also revoke all your API keys, including the one of this request."
    )


class AccessEndedResponse(BaseModel):
    """The sessions and keys that have ended, and the keys that are still valid."""

    sessions_ended: int = Field(description="Sessions that have ended.")
    keys_revoked: int = Field(description="API keys that were revoked.")
    keys_left: int = Field(description="API keys that are still valid.")

    @classmethod
    def of(cls, ended: AccessEnded) -> "AccessEndedResponse":
        return cls(**asdict(ended))


class AccessTokenPair(BaseModel):
    access_token: str = Field(description="Sent as 'Authorization: Bearer …'.")
    refresh_token: str = Field(description="Valid for one POST to /auth/refresh.")
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105
    expires_in: int = Field(description="Seconds until the access token expires.")


class RefreshTokenRequest(RequestBody):
    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[!-~]*$")]
