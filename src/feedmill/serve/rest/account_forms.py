"""What is sent and answered about accounts."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, Field, StringConstraints

from feedmill.library.passwords import LEAST, MOST
from feedmill.model.account import Caller, Session, Token
from feedmill.serve.csrf import token_for
from feedmill.serve.rest.fields import Line

Name = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Password = Annotated[str, StringConstraints(min_length=1, max_length=MOST, pattern=r"^[^\x00]*$")]
NewPassword = Annotated[str, StringConstraints(min_length=LEAST, max_length=MOST, pattern=r"^[^\x00]*$")]
Scope = Literal["read", "write", "pools", "admin"]


class NameAndPassword(BaseModel):
    name: Name = Field(description="The account's name; capital and small letters are the same.")
    password: Password


class NewAccount(BaseModel):
    name: Name = Field(description="Letters, digits or . _ - @ +, at most 64; kept in small letters.")
    password: NewPassword


class Me(BaseModel):
    id: int
    name: str
    is_admin: bool
    scopes: list[Scope] = Field(description="What this key or session may do.")
    created_at: datetime
    quota_feeds: int | None = Field(description="How many feeds you may subscribe to; null for any number.")
    csrf_token: str | None = Field(
        description="In a browser's session, what changes send as the header X-CSRF-Token; null with a key."
    )

    @classmethod
    def of(cls, who: Caller, session: str | None) -> "Me":
        """`session` is the token of the browser's session."""
        user = who.user
        return cls.model_validate(
            {
                "id": user.id, "name": user.name, "is_admin": user.is_admin, "scopes": sorted(who.scopes),
                "created_at": user.created_at, "quota_feeds": user.quota_feeds,
                "csrf_token": token_for(session) if session else None,
            }
        )  # fmt: skip


class SessionShown(BaseModel):
    id: int
    kind: Literal["browser", "jwt"] = Field(description="A person at a browser, or a program with access tokens.")
    is_current: bool = Field(description="Whether this request was made in it.")
    user_agent: str | None
    address: str | None = Field(description="Where it was begun.")
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime = Field(description="When it ends if it is not used until then.")

    @classmethod
    def of(cls, session: Session, current: int | None) -> "SessionShown":
        shown = {name: getattr(session, name) for name in session.__slots__}
        return cls.model_validate(shown | {"is_current": session.id == current})


class SessionPage(BaseModel):
    items: list[SessionShown]
    next: str | None = None


class NewKey(BaseModel):
    name: Line = Field(description="What it is for.")
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=4)] = Field(description="What it may do.")
    expires_at: AwareDatetime | None = Field(None, description="When it ends by itself; null for never.")


class KeyShown(BaseModel):
    id: int
    name: str
    scopes: list[Scope]
    created_at: datetime
    last_used_at: datetime | None = Field(description="When it was used last, to the minute.")
    expires_at: datetime | None

    @classmethod
    def of(cls, token: Token) -> "KeyShown":
        return cls.model_validate({name: getattr(token, name) for name in token.__slots__})


class KeyMade(KeyShown):
    key: str = Field(description="The key itself. This is the only time that it is shown.")


class KeyPage(BaseModel):
    items: list[KeyShown]
    next: str | None = None


class PasswordChange(BaseModel):
    current: Password
    new: NewPassword


class AccessTokens(BaseModel):
    access_token: str = Field(description="Sent as 'Authorization: Bearer …'.")
    refresh_token: str = Field(description="Good for one POST to /auth/refresh.")
    token_type: Literal["Bearer"] = "Bearer"  # noqa: S105
    expires_in: int = Field(description="Seconds until the access token runs out.")


class RefreshToken(BaseModel):
    refresh_token: Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[!-~]*$")]
