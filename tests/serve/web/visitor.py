"""A browser without scripts: it follows links and submits the forms of pages."""

from dataclasses import dataclass
from typing import Any

import httpx
from lxml import html
from starlette.applications import Starlette
from starlette.routing import Mount

from feedmill.model.user import User
from feedmill.serve.http.csrf import csrf_token_for
from feedmill.serve.http.session_cookie import SESSION_COOKIE
from feedmill.serve.lazy_app import LazyApp
from tests.browser.sample_feeds import PASSWORD, find_user
from tests.serve.rest.site import Site


@dataclass(frozen=True)
class Visitor:
    name: str
    client: httpx.AsyncClient

    @classmethod
    async def signed_in(cls, site: Site, name: str) -> "Visitor":
        client = await site.browser()
        answer = await client.post("/login", data={"name": name, "password": PASSWORD})
        assert answer.status_code == 303, answer.text
        return cls(name, client)

    async def see(self, path: str, **more: Any) -> Any:
        """The parsed page; it must exist."""
        answer = await self.client.get(path, **more)
        assert answer.status_code == 200, (answer.status_code, answer.headers.get("location"), answer.text[:500])
        return html.fromstring(answer.text)

    async def user(self, site: Site) -> User:
        return await find_user(site, self.name)

    def csrf(self) -> str:
        """The CSRF token of pages; `test_security_headers.py` checks that they have it."""
        return csrf_token_for(self.client.cookies[SESSION_COOKIE])

    async def send(self, path: str, **fields: Any) -> httpx.Response:
        """Submits a form of ours with its token."""
        return await self.client.post(path, data={"csrf": self.csrf()} | fields)


async def pages_of(site: Site) -> Starlette:
    """The ASGI app of the pages, which is mounted last."""
    mount = site.asgi.routes[-1]
    assert isinstance(mount, Mount)
    assert isinstance(mount.app, LazyApp)
    pages = await mount.app.built()
    assert isinstance(pages, Starlette)
    return pages


def titles(page: Any) -> list[str]:
    return [link.text_content() for link in page.xpath("//li[contains(@class, 'row')]//a[@class='title']")]


def text_of(page: Any) -> str:
    return " ".join(page.text_content().split())
