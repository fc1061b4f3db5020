"""A reader app in tests: an account with an app password, and a small library to read."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

from feedmill.library.users.app_passwords import create_app_password
from feedmill.model.user import AppPassword, Caller, User
from feedmill.store.users.users import add_user
from tests.serve.rest.site import Site

API = "/reader/api/0"


@dataclass(frozen=True)
class AppUser:
    """A user with an app password, and a client that sends nothing by itself."""

    user: User
    password: str
    app_password: AppPassword
    client: httpx.AsyncClient


@dataclass(frozen=True)
class GreaderApp:
    """An app that has signed in to the Google Reader API; paths are below `/reader/api/0`."""

    client: httpx.AsyncClient
    token: str
    prefix: str = ""

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.client.get(f"{self.prefix}{API}{path}", headers=self.headers, **more)

    async def post(self, path: str, body: str | bytes = "", **more: Any) -> httpx.Response:
        form = {"Content-Type": "application/x-www-form-urlencoded"} | self.headers
        return await self.client.post(f"{self.prefix}{API}{path}", content=body, headers=form, **more)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"GoogleLogin auth={self.token}"}


async def app_user(site: Site, name: str, *, allows_fever: bool = False) -> AppUser:
    now = datetime.now(UTC)
    user = await add_user(site.app.db, name, None, False, now)
    who = Caller(user, user.scopes)
    password, added = await create_app_password(site.app.db, who, f"{name}'s phone", now, allows_fever=allows_fever)
    return AppUser(user, password, added, await site.browser())


async def sign_in(user: AppUser, prefix: str = "") -> GreaderApp:
    sent = {"Email": user.user.name, "Passwd": user.password, "service": "reader", "client": "test"}
    answer = await user.client.post(f"{prefix}/accounts/ClientLogin", data=sent)
    assert answer.status_code == 200, answer.text
    fields = dict(line.split("=") for line in answer.text.splitlines())
    return GreaderApp(user.client, fields["Auth"], prefix)
