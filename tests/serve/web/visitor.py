"""A browser without scripts: it follows links and submits the forms of pages."""

from dataclasses import dataclass
from typing import Any

import httpx
from lxml import html

from feedmill.model.user import User
from feedmill.serve.http.csrf import csrf_token_for
from feedmill.serve.http.session_cookie import SESSION_COOKIE
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


def titles(page: Any) -> list[str]:
    return [link.text_content() for link in page.xpath("//li[contains(@class, 'row')]//a[@class='title']")]


def text_of(page: Any) -> str:
    return " ".join(page.text_content().split())
