"""The list of hosts, and blocking a host, without scripts."""

from datetime import UTC, datetime, timedelta

import pytest

from feedmill.model.fetch_outcome import Refused
from feedmill.store.admin.blocked_hosts import BLOCKED_HOST_REASON
from feedmill.store.database import Step
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.schema import feeds
from tests.serve.rest.site import Site
from tests.serve.web.admin.test_admin import rows
from tests.serve.web.visitor import Visitor, text_of

HOST = "127.0.0.1"
PAGE = f"/admin/hosts/{HOST}"


async def test_a_host_shows_its_requests_and_how_long_it_asked_us_to_wait(site: Site, alice: Visitor) -> None:
    until = datetime.now(UTC) + timedelta(hours=2, minutes=1)
    away = {"last_error_kind": "throttled", "next_fetch_at": f"{until:%Y-%m-%dT%H:%M:%SZ}"}
    await site.app.db.batch([Step(feeds.update().where(feeds.c.id == 1).values(**away))])

    [row] = rows(await alice.see("/admin/hosts"))
    page = text_of(await alice.see(PAGE))

    assert row.startswith("127.0.0.1 2 0 2 0.1 0 in 2 h")
    assert "Its server asked us to wait: in 2 h" in page
    assert "Requests2 (0.1 per hour)" in page


async def test_a_host_is_blocked_after_a_confirmation_and_unblocked(site: Site, alice: Visitor) -> None:
    looked = await alice.client.get("/admin/hosts", params={"host": " http://127.0.0.1/feed.xml "})
    assert looked.headers["location"] == PAGE
    page = await alice.see(PAGE)
    assert "2 feeds stop and show why" in text_of(page.xpath("//details[.//form[contains(@action, '/block')]]")[0])

    await alice.send(f"{PAGE}/block")

    page = await alice.see(PAGE)
    assert "127.0.0.1 is blocked; 2 feeds stop." in text_of(page)
    assert page.xpath("//form[contains(@action, '/block')]") == []
    assert str(BLOCKED_HOST_REASON) in text_of(await alice.see("/admin/feeds/1"))
    assert str(BLOCKED_HOST_REASON) in text_of(await alice.see("/feed/1/health"))
    assert isinstance(await site.app.client.get(site.web.url("/")), Refused)
    assert rows(await alice.see("/admin/hosts"))[-1].startswith("127.0.0.1 now alice Unblock")

    await alice.send(f"{PAGE}/unblock")

    assert "127.0.0.1 is no longer blocked; 2 feeds are due." in text_of(await alice.see(PAGE))
    assert all(feed.next_fetch_at for feed in await feeds_of_ids(site.app.db, [1, 2]))
    deeds = rows(await alice.see("/admin/audit"))
    assert [row.split()[2:4] for row in deeds[:2]] == [["host.unblock", HOST], ["host.block", HOST]]


async def test_subscribing_to_a_blocked_host_says_that_it_is_blocked(site: Site, alice: Visitor) -> None:
    await alice.send(f"{PAGE}/block")

    page = await alice.see("/subscribe", params={"url": site.web.url("/new.xml")})

    assert "An admin of this server has blocked 127.0.0.1." in text_of(page)


async def test_a_host_without_feeds_can_be_blocked_too(alice: Visitor) -> None:
    page = text_of(await alice.see("/admin/hosts/ads.example"))
    assert "There are no feeds from this host." in page

    await alice.send("/admin/hosts/ads.example/block")

    assert "ads.example is blocked; 0 feeds stop." in text_of(await alice.see("/admin/hosts/ads.example"))


@pytest.mark.parametrize("typed", ["", "two words", "ftp://x/", "x" * 3000])
async def test_an_invalid_host_name_is_reported_next_to_the_field(alice: Visitor, typed: str) -> None:
    answer = await alice.client.get("/admin/hosts", params={"host": typed})

    assert (answer.status_code, "This is not a host name." in answer.text) == (422, True)


async def test_a_host_page_is_for_admins_and_needs_the_canonical_name(alice: Visitor, charlie: Visitor) -> None:
    for path in (PAGE, "/admin/hosts?host=example.org"):
        assert (await charlie.client.get(path)).status_code == 403, path
    for path in (f"{PAGE}/block", f"{PAGE}/unblock"):
        assert (await charlie.send(path)).status_code == 403, path
    for path in ("/admin/hosts/Example.ORG", "/admin/hosts/two%20words"):
        assert (await alice.client.get(path)).status_code == 404, path
    assert (await alice.send("/admin/hosts/example.org/unblock")).status_code == 404
