"""`POST /api/feeds` when the site is slow: it answers at once, and a job tells what came of it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from feedmill.settings import Settings
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest, Web
from tests.serve.rest.sample_feeds import feed_of, page_with
from tests.serve.rest.site import Person, Site, running_site


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web, subscribe_seconds=0.05) as site:
        yield site


async def add_slow(site: Site, person: Person, then: Answer) -> tuple[httpx.Response, dict[str, Any]]:
    """Adds a site that answers only after the response of the API; that response, and the job in the end."""
    may_answer = asyncio.Event()

    async def serve(seen: ReceivedRequest, connection: ClientConnection) -> None:
        await may_answer.wait()
        await connection.send(then.encode())

    added = await person.post("/feeds", {"url": site.web.serve("/", serve), "folder": "News"})
    may_answer.set()
    await site.parts.engine.until_idle()
    job: dict[str, Any] = (await person.get(f"/jobs/{added.json()['job_id']}")).json()
    return added, job


async def test_a_slow_feed_is_answered_at_once_and_fetched_by_the_job(site: Site, alice: Person) -> None:
    added, job = await add_slow(site, alice, feed_of("a", "b", title="News"))

    told = added.json()
    assert (added.status_code, told["status"], told["feed"]["state"]) == (202, "queued", "queued")
    assert (job["status"], job["total"], job["done"], job["new"], job["failed"]) == ("done", 1, 1, 2, 0)
    feed = (await alice.get(f"/feeds/{told['feed']['id']}")).json()
    assert (feed["title"], feed["unread_count"], len(feed["folder_ids"])) == ("News", 2, 1)


async def test_the_feed_of_a_slow_page_is_found_by_the_job(site: Site, alice: Person) -> None:
    url = site.web.serve("/feed", feed_of("a"))

    added, job = await add_slow(site, alice, page_with("/feed"))

    assert (added.status_code, job["new"], job["failed"]) == (202, 1, 0)
    assert (await alice.get(f"/feeds/{added.json()['feed']['id']}")).json()["url"] == url


@pytest.mark.parametrize(
    ("answer", "told"),
    [(Answer(status=404), "HTTP 404"), (page_with("/one", "/two"), "this page has 2 feeds")],
)
async def test_the_job_tells_why_a_slow_site_has_no_feed(site: Site, alice: Person, answer: Answer, told: str) -> None:
    added, job = await add_slow(site, alice, answer)

    [failure] = job["failures"]
    assert (added.status_code, job["failed"], failure["outcome"]) == (202, 1, "failed")
    assert failure["subscription_id"] == added.json()["feed"]["id"]
    assert failure["message"].startswith(told)


async def test_a_second_request_for_a_slow_site_names_the_subscription(site: Site, alice: Person) -> None:
    added, _ = await add_slow(site, alice, feed_of("a"))

    again = await alice.post("/feeds", {"url": site.web.url("/")})

    assert (again.status_code, again.json()["code"]) == (409, "already_subscribed")
    assert again.json()["subscription_id"] == added.json()["feed"]["id"]


def test_a_site_has_less_than_a_second_to_answer() -> None:
    assert 0 < Settings().subscribe_seconds < 1
