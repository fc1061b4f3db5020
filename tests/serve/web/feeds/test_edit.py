"""The settings of one feed."""

from typing import Any

import pytest
from lxml import html

from feedmill.outbound.encrypted_options import decrypt_options
from feedmill.store.feeds.read_feeds import feeds_of_ids
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.sample_sites import feed
from tests.serve.web.valid_forms import FEED, filled
from tests.serve.web.visitor import Visitor, text_of


async def first(site: Site, visitor: Visitor) -> Any:
    return (await subscriptions_of(site.app.db, (await visitor.user(site)).id))[0]


async def save(visitor: Visitor, id: int, after: str = "", **changed: Any) -> Any:
    """Submits the form as the page has it, with some of its fields changed."""
    page = await visitor.see(f"/feed/{id}/edit")
    [form] = page.xpath(f"//form[@action='/feed/{id}/edit']")
    left_out = ("csrf", "folder", "label")
    fields = {name: value or "" for name, value in form.fields.items() if name not in left_out}
    ticked = {name: form.xpath(f".//input[@name='{name}'][@checked]/@value") for name in ("folder", "label")}
    return await visitor.send(f"/feed/{id}/edit{after}", **(fields | ticked | changed))


async def test_saving_the_form_as_it_is_changes_nothing(site: Site, alice: Visitor) -> None:
    before = await first(site, alice)

    saved = await save(alice, before.id)

    assert (saved.status_code, saved.headers["location"]) == (303, f"/feed/{before.id}")
    assert await first(site, alice) == before


async def test_choices_are_saved(site: Site, alice: Visitor) -> None:
    feed_id = (await first(site, alice)).id

    await save(alice, feed_id, title="我的 systems", interval="86400", images="none", paused="yes", new_folder="Quiet")

    after = await first(site, alice)
    assert (after.title, after.interval_seconds) == ("我的 systems", 86400)
    assert (after.archive_policy, after.paused) == ("none", True)
    assert len(after.folder_ids) == 2


async def test_a_new_url_is_checked_and_then_saved(site: Site, alice: Visitor) -> None:
    before = await first(site, alice)
    moved = feed(site, "/moved.xml", "Moved")

    tested = await save(alice, before.id, url=moved, do="test")
    assert "A feed was found: “Moved”, 3 items." in tested.text
    assert (await first(site, alice)).url == before.url
    await save(alice, before.id, url=moved)

    assert (await first(site, alice)).url == moved


async def test_a_url_without_a_feed_is_saved_only_after_a_confirmation(site: Site, alice: Visitor) -> None:
    before = await first(site, alice)
    down = site.web.serve("/down.xml", Answer(status=500))

    refused = await save(alice, before.id, url=down)
    assert refused.status_code == 422
    assert "has a server error (HTTP 500)" in refused.text
    assert (await first(site, alice)).url == before.url
    await save(alice, before.id, url=down, anyway="yes")

    assert (await first(site, alice)).url == down


async def test_a_url_that_the_user_already_subscribes_to_is_named(site: Site, alice: Visitor) -> None:
    one, other = await subscriptions_of(site.app.db, (await alice.user(site)).id)

    answer = await save(alice, one.id, url=other.url)

    assert html.fromstring(answer.text).xpath(f"//main//a[@href='/feed/{other.id}']")
    assert (await first(site, alice)).url == one.url


async def test_a_login_makes_the_feed_private_and_is_never_shown(site: Site, alice: Visitor) -> None:
    feed_id = (await first(site, alice)).id

    await save(alice, feed_id, http_name="ada", http_password="s3cret", http_cookie="k=v")
    page = await alice.see(f"/feed/{feed_id}/edit")
    await save(alice, feed_id, title="Named")

    after = await first(site, alice)
    [row] = await feeds_of_ids(site.app.db, [after.feed_id])
    assert (after.is_private, after.title) == (True, "Named")
    kept = decrypt_options(site.app.tools.encryption, row.http_options) or ""
    assert ("s3cret" in kept, "k=v" in kept) == (True, True)
    assert row.http_options is not None
    assert "s3cret" not in row.http_options.value
    assert "s3cret" not in html.tostring(page, encoding="unicode")
    assert page.xpath("//input[@name='http_name']/@value") == ["ada"]
    await save(alice, feed_id, forget="yes")
    [row] = await feeds_of_ids(site.app.db, [(await first(site, alice)).feed_id])
    assert row.http_options is None


@pytest.mark.parametrize(
    ("field", "value"),
    [("http_proxy", "socks://x"), ("http_headers", "nonsense"), ("http_name", "a:b"), ("title", "x" * 501)],
)
async def test_an_invalid_value_is_reported_at_its_field(site: Site, alice: Visitor, field: str, value: str) -> None:
    feed_id = (await first(site, alice)).id

    answer = await save(alice, feed_id, **{field: value})

    assert answer.status_code == 422
    [wrong] = html.fromstring(answer.text).xpath("//div[contains(@class, 'wrong')]")
    assert wrong.xpath(".//input/@name | .//textarea/@name") == [field]


async def test_the_settings_of_another_users_feed_are_not_found(alice: Visitor, charlie: Visitor) -> None:
    assert (await charlie.client.get("/feed/1/edit")).status_code == 404
    assert (await charlie.send("/feed/1/edit", **filled(FEED, {"folder": 1, "label": 1}))).status_code == 404
    assert (await alice.client.get("/feed/9007199254740993/edit")).status_code == 404


async def test_the_settings_link_to_unsubscribing(site: Site, alice: Visitor) -> None:
    feed_id = (await first(site, alice)).id
    page = await alice.see(f"/feed/{feed_id}/edit")

    assert "Unread items are removed." in text_of(page)
    [form] = page.xpath("//form[@action='/feeds']")
    assert (form.fields["id"], form.xpath(".//button/@value")) == (str(feed_id), ["unsubscribe"])
