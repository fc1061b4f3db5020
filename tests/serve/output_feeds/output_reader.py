"""A program that reads an output feed, and knows nothing but its address."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.model.parsed_feed import ParsedFeed
from tests.serve.rest.site import Person, Site


@dataclass(frozen=True)
class OutputReader:
    """`id` is that of the output feed."""

    client: httpx.AsyncClient
    id: int
    atom_url: str
    json_url: str

    async def atom(self, **headers: str) -> httpx.Response:
        return await self.get(self.atom_url, **headers)

    async def json(self) -> Any:
        return (await self.get(self.json_url)).json()

    async def get(self, url: str, **headers: str) -> httpx.Response:
        return await self.client.get(url, headers={name.replace("_", "-"): value for name, value in headers.items()})

    async def titles(self) -> list[str | None]:
        return titles_in(await self.atom())


async def make_output_feed(site: Site, who: Person, list_name: str, **more: Any) -> OutputReader:
    """An output feed that the user creates with the API."""
    answer = await who.post("/output-feeds", {"list": list_name} | more)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    return OutputReader(await site.browser(), made["feed"]["id"], made["atom_url"], made["json_url"])


def parsed(answer: httpx.Response) -> ParsedFeed:
    return parse_feed(answer.content, content_type=answer.headers["content-type"], url=str(answer.url))


def titles_in(answer: httpx.Response) -> list[str | None]:
    assert answer.status_code == 200, answer.text
    return [entry.title for entry in parsed(answer).entries]


def secret_in(url: str) -> str:
    return urlsplit(url).path.split("/")[2]
