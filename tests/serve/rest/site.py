"""A running Feedmill for tests of the API: the real application in this process, a scripted web, and people."""

import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
from starlette.applications import Starlette

from feedmill.app import App, build_app
from feedmill.model.user import SCOPES, User
from feedmill.run.embedded import EmbeddedParts, open_embedded
from feedmill.serve import asgi
from feedmill.settings import load_settings
from feedmill.store.users.api_tokens import add_token
from feedmill.store.users.users import add_user
from tests.scripted_web import Web
from tests.sqlite_template import copy_template

ORIGIN = "http://feedmill.test"
# For jobs that run when a test is over: one that rests before it asks a feed again would take another ten seconds.
GRACE = timedelta(seconds=0.2)


# With each request to an application httpx tries to import it, and searches the whole path for what is not there.
if find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Person:
    """Somebody with a key of all scopes; paths are those below `/api`."""

    user: User
    client: httpx.AsyncClient

    async def get(self, path: str, **more: Any) -> httpx.Response:
        return await self.client.get(f"/api{path}", **more)

    async def post(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return await self.client.post(f"/api{path}", json=json, **more)

    async def patch(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return await self.client.patch(f"/api{path}", json=json, **more)

    async def put(self, path: str, json: Any = None, **more: Any) -> httpx.Response:
        return await self.client.put(f"/api{path}", json=json, **more)

    async def delete(self, path: str, **more: Any) -> httpx.Response:
        return await self.client.delete(f"/api{path}", **more)


@dataclass
class Site:
    """The application, its parts, the web that it collects from, and the clients to close."""

    app: App
    parts: EmbeddedParts
    web: Web
    asgi: Starlette
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def person(self, name: str, *, is_admin: bool = False, scopes: tuple[str, ...] = SCOPES) -> Person:
        """A new person who asks with a key of these scopes."""
        now = datetime.now(UTC)
        user = await add_user(self.app.db, name, None, is_admin, now)
        secret = f"fm_{name}"
        await add_token(self.app.db, user.id, "test", secret, scopes, now)
        return Person(user, await self.browser(Authorization=f"Bearer {secret}"))

    async def browser(self, **headers: str) -> httpx.AsyncClient:
        """A client of nobody, with a cookie jar of its own."""
        transport = httpx.ASGITransport(self.asgi)
        client = httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers)
        return await self.closing.enter_async_context(client)


@asynccontextmanager
async def running_site(folder: Path, web: Web, **settings: Any) -> AsyncIterator[Site]:
    """Everything of `feedmill serve` but the socket and the scheduler; hosts are asked without a gap."""
    given = {"data": str(folder), "allow_private": "127.0.0.0/8", "host_gap": 0, "public_url": ORIGIN} | settings
    if "database" not in settings:
        await copy_template(folder / "feedmill.db")
    async with build_app(load_settings(**given)) as app, open_embedded(app, GRACE) as parts:
        site = Site(app, parts, web, asgi.create_asgi_app(app, parts.batches))
        async with site.closing:
            yield site
