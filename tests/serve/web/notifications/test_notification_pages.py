"""Notification targets on their pages, without scripts."""

from dataclasses import asdict

import pytest

from feedmill.library.notifications.browser_push import fingerprint
from feedmill.library.search.saved_searches import create_saved_search
from tests.library.notifications.push_service import PushedBrowser
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

PATH = "/settings/notifications"
TARGET = {
    "name": "phone",
    "url": "ntfys://ntfy.sh/secret-topic",
    "event": ["feed.failing"],
    "gap": "15",
    "digest": "none",
}


async def _add(visitor: Visitor, **changes: object) -> str:
    return str((await visitor.send(PATH, **(TARGET | changes))).headers["location"])


async def test_a_target_is_added_changed_and_deleted(site: Site, alice: Visitor) -> None:
    search = await create_saved_search(site.app.db, 1, "mills", "mill")
    path = await _add(alice)
    await alice.send(
        path, name="my phone", url="", event=["feed.healed"], search=[str(search.id)], gap="60", digest="weekly"
    )

    page = await alice.see(path)
    assert page.xpath("//input[@name='event'][@checked]/@value") == ["feed.healed"]
    assert page.xpath("//input[@name='search'][@checked]/@value") == [str(search.id)]
    assert page.xpath("//select[@name='gap']/option[@selected]/@value") == ["60"]
    assert page.xpath("//select[@name='digest']/option[@selected]/@value") == ["weekly"]
    assert "secret-topic" not in (await alice.client.get(path)).text + (await alice.client.get(PATH)).text
    await alice.send(f"{path}/delete")
    assert "You have no targets." in text_of(await alice.see(PATH))


async def test_an_invalid_target_is_reported_next_to_its_field(alice: Visitor) -> None:
    answer = await alice.send(PATH, **(TARGET | {"url": "syslog://localhost"}))

    assert answer.status_code == 422
    assert "syslog:// is not among the services that can be used" in answer.text


async def test_charlie_sees_and_changes_nothing_of_alices_targets(alice: Visitor, charlie: Visitor) -> None:
    path = await _add(alice)

    assert (await charlie.client.get(path)).status_code == 404
    assert (await charlie.send(path, **TARGET)).status_code == 404
    for action in ("test", "delete"):
        assert (await charlie.send(f"{path}/{action}")).status_code == 404
    assert "You have no targets." in text_of(await charlie.see(PATH))


@pytest.mark.external
async def test_a_test_message_is_sent_and_its_outcome_shown(site: Site, alice: Visitor) -> None:
    site.web.serve("/notify", Answer(status=200))
    path = await _add(alice, url=f"json://127.0.0.1:{site.web.port}/notify")

    await alice.send(f"{path}/test")
    assert "The test message will be sent within seconds." in text_of(await alice.see(path))
    await site.app.notifications.send()

    assert "Works" in text_of(await alice.see(path))
    assert len(site.web.seen("/notify")) == 1


async def test_a_browser_is_added_listed_and_removed(site: Site, alice: Visitor, charlie: Visitor) -> None:
    key = (await alice.see(PATH)).xpath("//*[@data-push-key]/@data-push-key")
    assert key == [await site.app.notifications.browsers.public_key()]
    browser = PushedBrowser(site.web, key[0]).subscription

    path = str((await alice.send(f"{PATH}/browsers", **asdict(browser))).headers["location"])

    assert "This browser is notified." in text_of(await alice.see(path))
    page = await alice.see(PATH)
    assert page.xpath("//a[@data-browser]/@data-browser") == [fingerprint(browser.endpoint)]
    assert browser.endpoint not in (await alice.client.get(path)).text + (await alice.client.get(PATH)).text
    assert (await charlie.client.get(path)).status_code == 404
    assert (await charlie.see(PATH)).xpath("//a[@data-browser]") == []
    await alice.send(path, name="Laptop", url="", event=["feed.healed"], gap="60", digest="weekly")
    assert "Laptop" in text_of(await alice.see(PATH))
    await alice.send(f"{path}/delete")
    assert "You have no targets." in text_of(await alice.see(PATH))


async def test_what_is_no_subscription_of_a_browser_is_said(alice: Visitor) -> None:
    answer = await alice.send(f"{PATH}/browsers", endpoint="https://push.example/", p256dh="x", auth="y")

    assert answer.status_code == 422
    assert "this is not a subscription of a browser" in answer.text
