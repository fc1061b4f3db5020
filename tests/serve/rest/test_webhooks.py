"""Webhooks over HTTP, from the feed that changes to the receiver that is called."""

import msgspec
import pytest

from feedmill.collect.refresh import refresh_feed
from feedmill.model.timestamps import to_iso
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.schema import subscriptions
from tests.scripted_web import Answer
from tests.serve.rest.site import Person, Site

FEED = b"""<rss version="2.0"><channel><title>News</title><link>https://example.org</link><description>d</description>
<item><guid>1</guid><title>First</title><link>https://example.org/1</link></item></channel></rss>"""
SUBSCRIBE = insert(subscriptions, "user_id", "feed_id", "created_at")


async def _refresh(site: Site, reader: Person, served: Answer) -> None:
    """Refreshes a feed that the reader is subscribed to."""
    now = site.app.tools.clock()
    feed = await add_feed(site.app.db, site.web.serve("/feed", served), now)
    row = {"user_id": reader.user.id, "feed_id": feed.id, "created_at": to_iso(now)}
    await site.app.db.batch([Step(SUBSCRIBE, row)])
    [claim] = await claim_feeds(site.app.db, [feed.id], now)
    await refresh_feed(site.app.tools, claim)


async def test_a_refresh_that_brings_entries_calls_the_webhook(site: Site, alice: Person) -> None:
    made = (await alice.post("/webhooks", {"url": site.web.serve("/hook", Answer(status=204))})).json()
    await _refresh(site, alice, Answer(FEED, headers={"Content-Type": "application/rss+xml"}))

    await site.app.webhooks.deliver()

    [call] = site.web.seen("/hook")
    told = msgspec.json.decode(call.body)
    assert (told["event"], [entry["title"] for entry in told["entries"]]) == ("entries.new", ["First"])
    assert made["webhook"]["id"] == told["webhook_id"]


async def test_the_secret_is_shown_once_and_can_be_renewed(alice: Person) -> None:
    made = (await alice.post("/webhooks", {"url": "https://example.org/hook"})).json()
    path = f"/webhooks/{made['webhook']['id']}"

    renewed = (await alice.post(f"{path}/secret")).json()

    assert made["secret"] != renewed["secret"]
    assert "secret" not in (await alice.get(path)).json()


async def test_a_webhook_is_changed_paused_and_deleted(alice: Person) -> None:
    made = (await alice.post("/webhooks", {"url": "https://example.org/hook"})).json()["webhook"]
    path = f"/webhooks/{made['id']}"

    changed = (await alice.patch(path, {"events": ["feed.failing"], "paused": True})).json()

    assert (changed["events"], changed["paused"], changed["url"]) == (["feed.failing"], True, made["url"])
    assert (await alice.delete(path)).status_code == 204
    assert (await alice.get(path)).status_code == 404


async def test_a_test_event_is_sent_listed_and_sent_again(site: Site, alice: Person) -> None:
    url = site.web.serve("/hook", Answer(status=400))
    path = f"/webhooks/{(await alice.post('/webhooks', {'url': url})).json()['webhook']['id']}"

    tested = await alice.post(f"{path}/test")
    too_soon = await alice.post(f"{path}/deliveries/{tested.json()['id']}/redeliver")
    await site.app.webhooks.deliver()
    [listed] = (await alice.get(f"{path}/deliveries")).json()["items"]

    assert (tested.status_code, tested.json()["event"], tested.json()["feed_id"]) == (202, "test", None)
    assert (too_soon.status_code, too_soon.json()["code"]) == (409, "still_pending")
    assert (listed["http_status"], listed["attempts"], listed["status"]) == (400, 1, "pending")


async def test_deliveries_come_in_pages(site: Site, alice: Person) -> None:
    made = (await alice.post("/webhooks", {"url": "https://example.org/hook"})).json()["webhook"]
    sent = [(await alice.post(f"/webhooks/{made['id']}/test")).json()["id"] for _ in range(3)]

    first = (await alice.get(f"/webhooks/{made['id']}/deliveries?limit=2")).json()
    rest = (await alice.get(f"/webhooks/{made['id']}/deliveries?limit=2&cursor={first['next']}")).json()

    assert [one["id"] for one in first["items"] + rest["items"]] == sent[::-1]
    assert rest["next"] is None


@pytest.mark.parametrize("url", ["ftp://example.org/", "nonsense://", "https://a:b@example.org/", ""])
async def test_an_invalid_webhook_is_reported_with_its_field(alice: Person, url: str) -> None:
    refused = await alice.post("/webhooks", {"url": url})

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "url"
