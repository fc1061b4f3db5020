"""A site whose users sign in with a real OpenID Connect provider."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.scripted_web import web_on_one_port
from tests.serve.rest.site import ORIGIN, Site, running_site
from tests.serve.web.site_folder_template import copy_site_folder
from tests.services.oidc_provider import CLIENT_ID, CLIENT_SECRET, sign_in_at_provider

PROVIDER_ID = "home"
CALLBACK = f"/login/oidc/{PROVIDER_ID}/callback"
ACCOUNTS = {
    "sub-alice": {"preferred_username": "alice", "email": "alice@example.org", "groups": ["readers", "admins"]},
    "sub-bob": {"preferred_username": "Bob", "email": "bob@example.org", "groups": ["readers"]},
    # The name and the e-mail address of somebody else's account.
    "sub-mallory": {"preferred_username": "alice", "email": "alice@example.org", "email_verified": True, "groups": []},
}


@dataclass(frozen=True)
class ProviderUser:
    """A person with two browsers in one: for the site, and for the provider."""

    site: httpx.AsyncClient
    provider: httpx.AsyncClient

    async def begin(self, path: str = f"/login/oidc/{PROVIDER_ID}", **query: str) -> str:
        """Where the site sends the browser."""
        answer = await self.site.get(path, params=query)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    async def prove(self, authorization_url: str, subject: str) -> str:
        """Signs in at the provider; the path at the site to which it redirects."""
        parts = urlsplit(await sign_in_at_provider(self.provider, authorization_url, subject))
        assert f"{parts.scheme}://{parts.netloc}" == ORIGIN
        return f"{parts.path}?{parts.query}"

    async def sign_in(self, subject: str, **query: str) -> httpx.Response:
        """The whole flow; the answer of the site at its end."""
        return await self.site.get(await self.prove(await self.begin(**query), subject))

    async def name(self) -> str:
        """The name of the user who is signed in."""
        answer = await self.site.get("/api/me")
        return answer.json()["name"] if answer.status_code == 200 else ""


def provider_settings(issuer: str, **more: Any) -> dict[str, Any]:
    return {
        "issuer": issuer,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "name": "Home",
        "scopes": ["openid", "profile", "email", "groups"],
        **more,
    }


@asynccontextmanager
async def site_with_provider(folder: Path, issuer: str, **more: Any) -> AsyncIterator[Site]:
    """A site with the admin alice, who has a password, and one provider; `more` are settings of the provider."""
    async with web_on_one_port() as web:
        await copy_site_folder(folder, web)
        async with running_site(folder, web, oidc={PROVIDER_ID: provider_settings(issuer, **more)}) as site:
            yield site


async def provider_user(site: Site) -> ProviderUser:
    browser = await site.closing.enter_async_context(httpx.AsyncClient())
    return ProviderUser(await site.browser(), browser)
