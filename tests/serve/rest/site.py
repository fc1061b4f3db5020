"""A running Feedmill for tests of the API: the real application in this process, a scripted web, and users."""

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
from feedmill.store.users.api_keys import add_api_key
from feedmill.store.users.users import add_user
from tests.scripted_web import Web
from tests.serve.web.template_cache import keep_compiled_templates
from tests.sqlite_template import copy_template
from tests.waiting import LONGEST_WAIT

ORIGIN = "http://feedmill.test"
# For jobs that still run when a test ends: one that waits before a retry would take another ten seconds.
GRACE = timedelta(seconds=0.2)

keep_compiled_templates()

# httpx tries to import sniffio with each request; where it is not installed, that searches the whole path.
if find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Person:
    """A user with a key of all scopes; paths are below `/api`."""

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
    """The application, the web that it collects from, and the clients to close."""

    app: App
    parts: EmbeddedParts
    web: Web
    asgi: Starlette
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def person(self, name: str, *, is_admin: bool = False, scopes: tuple[str, ...] = SCOPES) -> Person:
        """A new user, whose key has these scopes."""
        now = datetime.now(UTC)
        user = await add_user(self.app.db, name, None, is_admin, now)
        secret = f"fm_{name}"
        await add_api_key(self.app.db, user.id, "test", secret, scopes, now)
        return Person(user, await self.browser(Authorization=f"Bearer {secret}"))

    async def browser(self, **headers: str) -> httpx.AsyncClient:
        """A client that is not signed in, with its own cookie jar."""
        transport = httpx.ASGITransport(self.asgi)
        client = httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers)
        return await self.closing.enter_async_context(client)


@asynccontextmanager
async def running_site(folder: Path, web: Web, **settings: Any) -> AsyncIterator[Site]:
    """Everything of `feedmill serve` except the socket and the scheduler; requests to a host have no gap between
    them, and no site is too slow to wait for."""
    given = {"data": str(folder), "allow_private": "127.0.0.0/8", "host_gap": 0, "public_url": ORIGIN}
    given = given | {"subscribe_seconds": LONGEST_WAIT} | settings
    if "database" not in settings:
        await copy_template(folder / "feedmill.db")
    async with build_app(load_settings(**given)) as app, open_embedded(app, GRACE) as parts:
        site = Site(app, parts, web, asgi.create_asgi_app(app, parts.batches))
        async with site.closing:
            yield site
