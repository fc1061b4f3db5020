"""Feeds, pages and folders for tests of the API."""

from typing import Any

from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer
from tests.serve.rest.site import Person, Site


def feed_of(*guids: str, **more: Any) -> Answer:
    """A feed with these entries."""
    return answer(*(item(guid) for guid in guids), **more)


def page_with(*urls: str) -> Answer:
    """A web page that links to these feeds."""
    links = "".join(f'<link rel="alternate" type="application/rss+xml" href="{url}">' for url in urls)
    return Answer(f"<!doctype html><html><head>{links}</head></html>".encode(), headers={"Content-Type": "text/html"})


async def subscribed(person: Person, site: Site, path: str = "/feed", *guids: str, **wish: Any) -> dict[str, Any]:
    """Subscribes the person to a feed at that path; the subscription."""
    url = site.web.serve(path, feed_of(*(guids or ("a", "b")), title="News"))
    added = await person.post("/feeds", {"url": url} | wish)
    assert added.status_code == 201, added.text
    feed: dict[str, Any] = added.json()["feed"]
    return feed


async def folder_of(person: Person, name: str, parent_id: int | None = None) -> int:
    made = await person.post("/folders", {"name": name, "parent_id": parent_id})
    assert made.status_code == 201, made.text
    return int(made.json()["id"])
