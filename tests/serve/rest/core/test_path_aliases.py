"""Programs that were written for the design documents find the API at the addresses that they know."""

import pytest

from feedmill.serve.http.path_aliases import api_path
from tests.serve.rest.sample_feeds import subscribed
from tests.serve.rest.site import Person, Site


@pytest.mark.parametrize(
    ("path", "with_token", "without"),
    [
        ("/api/backend/queue/schedule-feed", "/api/queue/schedule-feed", "/api/queue/schedule-feed"),
        ("/api/backend/schedule-feed", "/api/queue/schedule-feed", "/api/queue/schedule-feed"),
        ("/schedule-feed", "/api/queue/schedule-feed", "/schedule-feed"),
        ("/feeds", "/api/feeds", "/feeds"),
        ("/feeds/7/refresh", "/api/feeds/7/refresh", "/feeds/7/refresh"),
        ("/feedsandmore", "/feedsandmore", "/feedsandmore"),
        ("/metrics", "/metrics", "/metrics"),
        ("/api/feeds", "/api/feeds", "/api/feeds"),
        ("/api/backend", "/api/backend", "/api/backend"),
    ],
)
def test_an_address_without_prefix_is_the_apis_only_with_a_token(path: str, with_token: str, without: str) -> None:
    assert (api_path(path, is_program=True), api_path(path, is_program=False)) == (with_token, without)


@pytest.mark.parametrize("prefix", ["", "/api/backend", "/api"])
async def test_the_calls_of_the_documents_work_under_every_prefix(site: Site, alice: Person, prefix: str) -> None:
    feed = await subscribed(alice, site)
    asked = {"feed_id": str(feed["feed_id"]), "force_immediate": True}

    scheduled = await alice.client.post(f"{prefix}/queue/schedule-feed", json=asked)
    one = await alice.client.post(f"{prefix}/feeds/{feed['id']}/refresh")
    every = await alice.client.post(f"{prefix}/feeds/refresh-all")

    assert scheduled.json()["status"] in ("queued", "already_running"), scheduled.text
    assert (one.status_code, every.status_code) == (202, 202), (one.text, every.text)


async def test_a_browser_without_a_token_still_gets_the_page(site: Site) -> None:
    visitor = await site.browser()

    answer = await visitor.get("/feeds/7")

    assert "json" not in answer.headers.get("content-type", "")


@pytest.mark.parametrize("feed_id", ["0", "-1", "1e3", "٣", " 1", "", "9" * 20, 1.5, True, None])
async def test_a_text_that_is_no_id_is_refused(alice: Person, feed_id: object) -> None:
    refused = await alice.post("/queue/schedule-feed", {"feed_id": feed_id})

    assert refused.status_code == 422
