"""Per-feed settings: the form, the preview of rules, and the same fields in the form that adds a feed."""

import pytest
from lxml import html

from feedmill.library.entries.labels import ensure_label
from feedmill.model.feed_settings import DEFAULT_FEED_SETTINGS, FeedSettings
from feedmill.store.entries.labels import labels_of
from feedmill.store.subscriptions.feed_settings import subscription_settings
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.serve.rest.site import Site
from tests.serve.web.feeds.test_edit import first, save
from tests.serve.web.sample_sites import feed
from tests.serve.web.visitor import Visitor, text_of


async def kept(site: Site, visitor: Visitor) -> FeedSettings:
    return await subscription_settings(site.app.db, (await visitor.user(site)).id, (await first(site, visitor)).id)


async def newest_title(site: Site, visitor: Visitor, feed_id: int) -> str:
    page = await visitor.see(f"/feed/{feed_id}?show=all")
    return str(page.xpath("//li[contains(@class, 'row')]//a[@class='title']")[0].text_content().strip())


async def test_settings_are_saved_and_shown_again(site: Site, alice: Visitor) -> None:
    one = await first(site, alice)
    wanted = {
        "retention_days": "365",
        "full_text": "yes",
        "keep_selector": ".post",
        "drop_selector": ".ad, aside",
        "block_rules": "ads\r\nin:title:sponsored",
        "keep_rules": "",
        "new_label": "  To  read ",
    }

    saved = await save(alice, one.id, **wanted)
    page = await alice.see(f"/feed/{one.id}/edit")

    labels = {each.name: each.id for each in await labels_of(site.app.db, (await alice.user(site)).id)}
    label = labels["To read"]
    assert saved.status_code == 303
    assert await kept(site, alice) == FeedSettings(
        retention_days=365,
        full_text=True,
        keep_selector=".post",
        drop_selector=".ad, aside",
        block_rules="ads\nin:title:sponsored",
        label_ids=(label,),
    )
    assert page.xpath("//select[@name='retention_days']/option[@selected]/@value") == ["365"]
    assert page.xpath("//input[@name='label'][@checked]/@value") == [str(label)]
    assert page.xpath("//textarea[@name='block_rules']")[0].text_content().strip() == "ads\nin:title:sponsored"


async def test_every_setting_can_be_reset(site: Site, alice: Visitor) -> None:
    one = await first(site, alice)
    await save(alice, one.id, retention_days="7", block_rules="ads", new_label="x", notify="")
    muted = (await kept(site, alice)).notify

    await save(alice, one.id, retention_days="", block_rules="", label=[], notify="yes")

    assert (muted, await kept(site, alice)) == (False, DEFAULT_FEED_SETTINGS)


async def test_a_preview_shows_what_would_be_blocked_and_keeps_the_typed_rules(site: Site, alice: Visitor) -> None:
    one = await first(site, alice)
    title = await newest_title(site, alice, one.id)

    shown = await save(alice, one.id, "/preview", block_rules=f'"{title}"', title="Not yet saved")

    page = html.fromstring(shown.text)
    [blocked] = page.xpath("//ul[@class='preview']/li[@class='blocked']")
    assert shown.status_code == 200
    assert title in text_of(blocked)
    assert "one would be blocked" in text_of(page)
    assert page.xpath("//input[@name='title']/@value") == ["Not yet saved"]
    assert (await first(site, alice), await kept(site, alice)) == (one, DEFAULT_FEED_SETTINGS)


async def test_with_scripts_only_the_preview_is_sent(site: Site, alice: Visitor) -> None:
    one = await first(site, alice)
    sent = {"csrf": alice.csrf(), "keep_rules": "nothingsaysthis"}

    shown = await alice.client.post(f"/feed/{one.id}/edit/preview", data=sent, headers={"HX-Request": "true"})

    assert "<html" not in shown.text
    assert shown.text.count('class="blocked"') == one.entry_count


async def test_with_scripts_an_invalid_rule_is_named_with_its_field(site: Site, alice: Visitor) -> None:
    one = await first(site, alice)
    sent = {"csrf": alice.csrf(), "keep_rules": "fine\n("}

    shown = await alice.client.post(f"/feed/{one.id}/edit/preview", data=sent, headers={"HX-Request": "true"})

    assert shown.status_code == 422
    assert "keep only items that match one of these Line 2: " in text_of(html.fromstring(shown.text))


@pytest.mark.parametrize(
    ("after", "field", "value", "said"),
    [
        (
            "",
            "block_rules",
            "fine\nis:unread",
            "Line 2: is: is not a property of the item itself, so it can’t be used here.",
        ),
        ("/preview", "block_rules", "is:unread", "Line 1: is: is not a property of the item itself"),
        ("", "keep_rules", "(kilns", "Line 1: This parenthesis is not closed."),
        ("", "keep_rules", "a\n" * 51, "There are at most 50 rules."),
        ("", "keep_selector", "p:hover", "This selector is not supported."),
        ("", "drop_selector", ",", "This selector is not supported."),
    ],
)
async def test_an_invalid_value_is_reported_at_its_field_and_stays_there(
    site: Site, alice: Visitor, after: str, field: str, value: str, said: str
) -> None:
    one = await first(site, alice)

    answer = await save(alice, one.id, after, **{field: value, "http_cookie": "x"})

    [wrong] = html.fromstring(answer.text).xpath("//div[contains(@class, 'wrong')]")
    assert answer.status_code == 422
    assert said in text_of(wrong)
    assert wrong.xpath("string(.//input/@value | .//textarea)").split() == value.split()
    assert (await first(site, alice), await kept(site, alice)) == (one, DEFAULT_FEED_SETTINGS)


async def test_rules_cannot_be_previewed_on_another_users_feed(site: Site, alice: Visitor, charlie: Visitor) -> None:
    hers = (await first(site, alice)).id

    assert (await charlie.send(f"/feed/{hers}/edit/preview", block_rules="a")).status_code == 404
    assert (await charlie.client.get(f"/feed/{hers}/edit/preview")).status_code == 404


async def test_a_label_of_another_user_is_ignored(site: Site, alice: Visitor, charlie: Visitor) -> None:
    his = await ensure_label(site.app.db, (await charlie.user(site)).id, "his")

    await save(alice, (await first(site, alice)).id, label=[str(his)])

    assert await kept(site, alice) == DEFAULT_FEED_SETTINGS


async def test_a_feed_is_added_with_a_label_and_rules(site: Site, charlie: Visitor) -> None:
    url = feed(site, "/kilns.xml", "Kilns")

    form = await charlie.see(f"/subscribe?url={url}")
    added = await charlie.send("/subscribe/add", url=url, feed=url, new_label="Clay", block_rules='"kilns 2"')

    charlies = (await charlie.user(site)).id
    [mine] = await subscriptions_of(site.app.db, charlies)
    [label] = await labels_of(site.app.db, charlies)
    assert {"label", "new_label", "block_rules", "keep_rules"} <= set(form.xpath("//form//@name"))
    assert added.status_code == 303
    assert (mine.unread_count, mine.entry_count) == (2, 3)
    assert (label.name, label.entries) == ("Clay", 2)
    assert await subscription_settings(site.app.db, charlies, mine.id) == FeedSettings(
        block_rules='"kilns 2"', label_ids=(label.id,)
    )


async def test_a_feed_with_invalid_rules_is_not_added(site: Site, charlie: Visitor) -> None:
    url = feed(site, "/kilns.xml", "Kilns")

    refused = await charlie.send("/subscribe/add", url=url, feed=url, block_rules="is:unread", new_label="Clay")

    assert (refused.status_code, await labels_of(site.app.db, (await charlie.user(site)).id)) == (422, [])
    assert "One of the rules is not valid" in refused.text
    assert await subscriptions_of(site.app.db, (await charlie.user(site)).id) == []
