"""Adding feeds without scripts, and the fragments for htmx."""

from typing import Any

import pytest
from lxml import html

from feedmill.store.database import Step
from feedmill.store.schema import users
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.sample_sites import HTML, feed, page
from tests.serve.web.visitor import Visitor, text_of
from tests.waiting import until

PARTIAL = {"HX-Request": "true"}


async def mine(site: Site, visitor: Visitor) -> list[Any]:
    return await subscriptions_of(site.app.db, (await visitor.user(site)).id)


def offered(tree: Any) -> list[tuple[str, bool]]:
    return [(box.get("value"), box.get("checked") is not None) for box in tree.xpath("//input[@name='feed']")]


async def test_the_feeds_of_a_page_are_found_and_added(site: Site, charlie: Visitor) -> None:
    one, two = feed(site, "/one.xml", "One", 4), feed(site, "/two.xml", "Two")
    front = page(site, "/front", one, two)

    looked = await charlie.send("/subscribe", url=front)
    found = await charlie.see(looked.headers["location"])
    assert offered(found) == [(one, True), (two, False)]
    assert "RSS 2.0" in text_of(found)
    assert "4 items" in text_of(found)
    added = await charlie.send("/subscribe/add", url=front, feed=[one, two], new_folder="Tech/Python", interval="3600")

    assert added.status_code == 303
    shown = await charlie.see(added.headers["location"])
    assert "2 feeds were added" in text_of(shown)
    first, second = await mine(site, charlie)
    assert (first.title, first.entry_count, first.interval_seconds) == ("One", 4, 3600)
    assert first.folder_ids == second.folder_ids != ()
    assert len(site.web.seen("/one.xml")) == 1


async def test_a_url_inside_a_shared_text_is_found(site: Site, charlie: Visitor) -> None:
    one = feed(site, "/one.xml", "One")

    found = await charlie.see("/subscribe", params={"text": f"Have a look: {one}", "url": ""})

    assert offered(found) == [(one, True)]


async def test_a_feed_that_is_not_in_the_cache_is_queued_and_filled_later(site: Site, charlie: Visitor) -> None:
    one = feed(site, "/one.xml", "One")

    added = await charlie.send("/subscribe/add", url=one, feed=one)
    address = added.headers["location"]

    assert "job=" in address
    shown: Any = None

    async def is_filled() -> bool:
        nonlocal shown
        shown = await charlie.see(address)
        if "3 items" in text_of(shown):
            return True
        assert shown.xpath("//noscript//meta[@http-equiv='refresh']/@content") == ["3"]
        return False

    await until(is_filled, otherwise="the new feed has no items")
    assert shown.xpath("//meta[@http-equiv='refresh']") == []


async def test_rows_of_a_new_feed_are_streamed_as_they_arrive(site: Site, charlie: Visitor) -> None:
    one = feed(site, "/one.xml", "One")
    headers = PARTIAL | {"X-CSRF-Token": charlie.csrf()}
    fragment = await charlie.client.post("/subscribe/add", data={"url": one, "feed": one}, headers=headers)
    [stream] = html.fromstring(fragment.text).xpath("//ul/@*[name()='hx-sse:connect']")

    told = await charlie.client.get(stream)

    assert told.headers["content-type"].startswith("text/event-stream")
    assert "3 items" in told.text
    assert told.text.endswith("event: done\ndata: \n\n")


async def test_each_step_of_the_discovery_is_reported(site: Site, charlie: Visitor) -> None:
    one = feed(site, "/one.xml", "One")
    front = page(site, "/front", one)
    headers = PARTIAL | {"X-CSRF-Token": charlie.csrf()}

    told = await charlie.client.post("/subscribe/discover", data={"url": front}, headers=headers)

    first, *_, last, _ = told.text.split("\n\n")
    assert "Checking 127.0.0.1" in first
    assert f"{front}</code> <span>checking" in told.text
    assert 'value="' + one in last


@pytest.mark.parametrize(
    ("answer", "why", "may_be_added"),
    [
        (Answer(b"<p>words</p>", headers=HTML), "no feed was found on it", True),
        (Answer(status=404), "There is nothing at this address", True),
        (Answer(status=401), "refuses access (HTTP 401)", True),
        (Answer(status=410), "gone permanently", False),
        (Answer(status=418), "refused with HTTP 418", True),
        (Answer(status=500), "has a server error (HTTP 500)", True),
        (Answer(status=429), "asks us to come back later", True),
        (b"nonsense\r\n\r\n", "an invalid response", True),
        (Answer(headers={"Location": "/there"}, status=302), "in circles", False),
    ],
)
async def test_every_failure_is_explained_with_the_urls_that_were_tried(
    site: Site, charlie: Visitor, answer: Any, why: str, may_be_added: bool
) -> None:
    url = site.web.serve("/there", answer)

    shown = await charlie.see("/subscribe", params={"url": url})

    assert why in text_of(shown)
    assert url in text_of(shown)
    assert bool(shown.xpath("//details[@class='anyway']//button[text()='Add anyway']")) == may_be_added


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://nowhere.invalid/", "is not known on the internet"),
        ("http://127.0.0.1:1/", "does not accept the connection"),
        ("http://10.0.0.1/", "the address is private"),
        ("https://", "not an address that can be fetched"),
    ],
)
async def test_an_invalid_url_is_explained(charlie: Visitor, url: str, why: str) -> None:
    assert why in text_of(await charlie.see("/subscribe", params={"url": url}))


async def test_a_user_over_quota_is_told_what_to_do(site: Site, charlie: Visitor) -> None:
    one, user = feed(site, "/one.xml", "One"), await charlie.user(site)
    await site.app.db.batch([Step(users.update().where(users.c.id == user.id).values(quota_bytes=0))])

    refused = await charlie.send("/subscribe/add", url=one, feed=one)

    assert refused.status_code == 422
    assert "Your feeds use all the storage that you may use: 0 B." in text_of(html.fromstring(refused.text))
    assert await mine(site, charlie) == []


async def test_a_feed_that_is_down_is_added_anyway(site: Site, charlie: Visitor) -> None:
    url = site.web.serve("/later.xml", Answer(status=500))

    added = await charlie.send("/subscribe/add", url=url, feed=url)

    assert added.status_code == 303
    assert [each.url for each in await mine(site, charlie)] == [url]


async def test_an_existing_subscription_is_linked(site: Site, charlie: Visitor) -> None:
    one = feed(site, "/one.xml", "One")
    await charlie.send("/subscribe/add", url=one, feed=one)
    [had] = await mine(site, charlie)

    found = await charlie.see("/subscribe", params={"url": one})
    again = await charlie.send("/subscribe/add", url=one, feed=one)

    assert found.xpath("//input[@name='feed'][@disabled]")
    assert found.xpath(f"//label//a[@href='/feed/{had.id}']")
    assert again.status_code == 422
    assert html.fromstring(again.text).xpath(f"//div[@role='alert']//a[@href='/feed/{had.id}']")


async def test_an_empty_form_is_reported_at_the_field(charlie: Visitor) -> None:
    nothing = await charlie.send("/subscribe", url="")
    none_ticked = await charlie.send("/subscribe/add", url="example.org")

    assert nothing.status_code == none_ticked.status_code == 422
    assert "Paste an address first" in nothing.text
    assert "Select at least one feed" in none_ticked.text


async def test_a_login_does_not_become_part_of_a_url(site: Site, charlie: Visitor) -> None:
    one = feed(site, "/one.xml", "One")

    looked = await charlie.send("/subscribe", url=one, http_name="ada", http_password="s3cret")

    assert looked.status_code == 200
    assert "location" not in looked.headers
    assert "s3cret" not in looked.text


async def test_the_dialog_gets_only_the_form(charlie: Visitor) -> None:
    fragment = await charlie.client.get("/subscribe", headers=PARTIAL)

    assert "<html" not in fragment.text
    assert html.fromstring(fragment.text).xpath("//input[@name='url']")


async def test_other_users_do_not_see_the_new_rows(site: Site, alice: Visitor, charlie: Visitor) -> None:
    [hers, _] = await mine(site, alice)

    shown = await charlie.see(f"/subscribe/added?id={hers.id}")

    assert hers.title not in text_of(shown)
    assert (await charlie.client.get("/subscribe/added/rows?id=1&job=1")).status_code == 404
