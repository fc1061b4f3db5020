"""Preferences of an account, its sessions, keys and webhooks, without scripts."""

import re
from typing import Any

import pytest

from feedmill.model.pool import PoolRule
from feedmill.serve.web.users.sessions import device_name
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def checked(page: Any, name: str) -> str:
    return str(page.xpath(f"//input[@name='{name}'][@checked]/@value")[0])


async def test_preferences_apply_on_another_device(site: Site, alice: Visitor) -> None:
    answer = await alice.send(
        "/settings", theme="dark", language="zh_CN", density="titles", zone="Asia/Shanghai", keys="off", marks="manual"
    )
    assert answer.headers["location"] == "/settings"

    elsewhere = await (await Visitor.signed_in(site, "alice")).see("/unread")

    root = elsewhere.getroottree().getroot()
    assert (root.get("data-theme"), root.get("lang")) == ("dark", "zh-Hans")
    assert (root.get("data-keys"), root.get("data-marks")) == ("off", "manual")
    assert elsewhere.xpath("//form[@id='list']/@data-density") == ["titles"]
    page = await alice.see("/settings")
    assert [checked(page, name) for name in ("theme", "density", "keys", "marks")] == [
        "dark",
        "titles",
        "off",
        "manual",
    ]
    assert page.xpath("//select[@name='zone']/option[@selected]/@value") == ["Asia/Shanghai"]
    assert "CST" in text_of(page)


async def test_a_device_can_override_the_appearance_of_the_account(site: Site, alice: Visitor) -> None:
    await alice.send("/settings", theme="dark")
    await alice.send("/appearance", theme="system")

    here, there = await alice.see("/appearance"), await (await Visitor.signed_in(site, "alice")).see("/appearance")

    assert (checked(here, "theme"), checked(there, "theme")) == ("system", "dark")


async def test_an_invalid_choice_changes_nothing(alice: Visitor) -> None:
    await alice.send("/settings", theme="neon", zone="Moon/Sea_of_Rains", keys="maybe", marks="never")

    page = await alice.see("/settings")

    assert [checked(page, name) for name in ("theme", "keys", "marks")] == ["system", "on", "open"]
    assert page.xpath("//select[@name='zone']/option[@selected]/@value") == [""]


@pytest.mark.parametrize(("marks", "left"), [("manual", "8"), ("open", "7"), ("scroll", "7")])
async def test_when_an_article_counts_as_read_is_a_preference(alice: Visitor, marks: str, left: str) -> None:
    await alice.send("/settings", marks=marks)
    [first] = (await alice.see("/unread")).xpath("(//a[@class='title'])[1]/@href")

    await alice.see(first)

    assert (await alice.see("/unread")).xpath("//*[@id='count-unread']/text()") == [left]


async def test_a_new_password_signs_out_everywhere_else(site: Site, alice: Visitor) -> None:
    other = await Visitor.signed_in(site, "alice")

    answer = await alice.send("/settings/password", current=PASSWORD, new="another horse", again="another horse")

    assert answer.headers["location"] == "/settings"
    assert "The password was changed. Sessions ended: 1." in text_of(await alice.see("/settings"))
    assert (await other.client.get("/settings")).status_code == 303


async def test_a_new_password_lists_the_keys_that_stay_and_offers_to_revoke_them(site: Site, alice: Visitor) -> None:
    keys = []
    for name in ("one", "two"):
        made = await alice.send("/settings/api-keys", name=name, scope=["read"], days="")
        keys += re.findall(r'value="(fm_[^"]+)" readonly', made.text)
    first = {"current": PASSWORD, "new": "another horse", "again": "another horse"}
    second = {"current": "another horse", "new": "a third horse", "again": "a third horse"}

    assert "Also revoke my 2 API keys, app passwords and output feeds Otherwise they stay valid." in text_of(
        await alice.see("/settings")
    )
    await alice.send("/settings/password", **first)
    assert "Keys revoked: 0. Keys still valid: 2." in text_of(await alice.see("/settings"))
    assert [await status(site, key) for key in keys] == [200, 200]
    await alice.send("/settings/password", **second, revoke_keys="yes")

    page = text_of(await alice.see("/settings"))
    assert "Keys revoked: 2. Keys still valid: 0." in page
    assert "There are no API keys, app passwords or output feeds to revoke." in page
    assert [await status(site, key) for key in keys] == [401, 401]


async def status(site: Site, key: str) -> int:
    return (await (await site.browser(Authorization=f"Bearer {key}")).get("/api/me")).status_code


@pytest.mark.parametrize(
    ("fields", "where", "said"),
    [
        ({"current": "wrong wrong", "new": "long enough", "again": "long enough"}, "current", "not your current"),
        ({"current": PASSWORD, "new": "short", "again": "short"}, "new", "8 to 1000"),
        ({"current": PASSWORD, "new": "long enough", "again": "otherwise"}, "again", "not the same"),
    ],
)
async def test_an_invalid_password_is_reported_next_to_its_field(
    alice: Visitor, fields: dict[str, str], where: str, said: str
) -> None:
    answer = await alice.send("/settings/password", **fields)

    assert answer.status_code == 422
    assert re.search(rf'id="f-{where}"[^>]* aria-invalid="true"', answer.text)
    assert said in answer.text
    assert fields["current"] not in answer.text


# --- sessions ---------------------------------------------------------------------------------------------


async def test_sessions_are_listed_and_ended(site: Site, alice: Visitor) -> None:
    client = await site.browser(**{"User-Agent": FIREFOX})
    await client.post("/login", data={"name": "alice", "password": PASSWORD})
    page = await alice.see("/settings/sessions")
    assert "Firefox · Linux" in text_of(page)
    assert len(page.xpath("//tbody/tr")) == 2
    [action] = page.xpath("//tbody//form/@action")

    await alice.send(action)

    assert (await client.get("/unread")).status_code == 303
    page = await alice.see("/settings/sessions")
    assert "You are not signed in anywhere else." in text_of(page)
    assert page.xpath("//tbody//form/@action") == []


@pytest.mark.parametrize(
    ("agent", "said"),
    [
        (FIREFOX, "Firefox · Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0", "Edge · Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1", "Safari · iPhone"),
        ("NetNewsWire/7.0 (RSS)", "NetNewsWire/7.0"),
        (None, ""),
    ],
)
def test_a_device_is_named_by_its_browser_and_system(agent: str | None, said: str) -> None:
    assert device_name(agent) == said


async def test_all_other_sessions_end_at_once(site: Site, alice: Visitor) -> None:
    others = [await Visitor.signed_in(site, "alice") for _ in range(2)]

    await alice.send("/settings/sessions/end-others")

    assert [(await each.client.get("/unread")).status_code for each in (alice, *others)] == [200, 303, 303]


async def test_signing_out_everywhere_else_offers_to_revoke_keys_too(site: Site, alice: Visitor) -> None:
    made = await alice.send("/settings/api-keys", name="one", scope=["read"], days="")
    [key] = re.findall(r'value="(fm_[^"]+)" readonly', made.text)
    await Visitor.signed_in(site, "alice")
    assert "Also revoke my API key" in text_of(await alice.see("/settings/sessions"))

    await alice.send("/settings/sessions/end-others", revoke_keys="yes")

    assert "Sessions ended: 1. Keys revoked: 1." in text_of(await alice.see("/settings/sessions"))
    assert await status(site, key) == 401


# --- keys -------------------------------------------------------------------------------------------------


async def test_a_key_is_shown_once_and_works_until_it_is_revoked(site: Site, alice: Visitor) -> None:
    made = await alice.send("/settings/api-keys", name="My phone", scope=["read"], days="30")
    [key] = re.findall(r'value="(fm_[^"]+)" readonly', made.text)
    program = await site.browser(Authorization=f"Bearer {key}")
    assert (await program.get("/api/me")).json()["scopes"] == ["read"]

    page = await alice.see("/settings/api-keys")
    assert key not in page.text_content()
    assert "My phone" in text_of(page)
    [action] = page.xpath("//tbody//form/@action")
    await alice.send(action)

    assert (await program.get("/api/me")).status_code == 401
    assert "You have no API keys." in text_of(await alice.see("/settings/api-keys"))


async def test_a_key_needs_a_name_and_a_scope(alice: Visitor) -> None:
    answer = await alice.send("/settings/api-keys", name="  ", days="")

    assert answer.status_code == 422
    assert "Give the key a name" in answer.text
    assert "Choose at least one right" in answer.text
    assert "You have no API keys." in answer.text


async def test_a_user_cannot_create_a_key_with_more_rights_than_their_own(charlie: Visitor) -> None:
    page = await charlie.see("/settings/api-keys")
    assert page.xpath("//input[@name='scope']/@value") == ["read", "write", "pools", "fill"]

    assert (await charlie.send("/settings/api-keys", name="x", scope="admin", days="")).status_code == 403


async def test_a_key_for_some_groups_lists_them_and_takes_from_no_other(site: Site, alice: Visitor) -> None:
    news, other = [await site.app.pools.create(name, PoolRule()) for name in ("新闻", "other")]
    for group in (news, other):
        await site.app.pools.fill(group.id)

    made = await alice.send("/settings/api-keys", name="consumer", scope=["pools"], pool_group=[str(news.id)], days="")
    [key] = re.findall(r'value="(fm_[^"]+)" readonly', made.text)
    program = await site.browser(Authorization=f"Bearer {key}")

    assert "Only from: 新闻" in text_of(await alice.see("/settings/api-keys"))
    assert (await program.post(f"/api/pools/{news.id}/titles/pop")).status_code == 200
    assert (await program.post(f"/api/pools/{other.id}/titles/pop")).status_code == 404
    await site.app.pools.delete(news.id)
    assert "it has access to none" in text_of(await alice.see("/settings/api-keys"))


@pytest.mark.parametrize("scope", [["read"], ["pools", "admin"]])
async def test_a_key_for_some_groups_needs_the_pools_scope_and_cannot_administer(
    site: Site, alice: Visitor, scope: list[str]
) -> None:
    group = await site.app.pools.create("news", PoolRule())

    answer = await alice.send("/settings/api-keys", name="x", scope=scope, pool_group=[str(group.id)], days="")

    assert answer.status_code == 422
    assert "needs “Pools”" in answer.text
    assert f'value="{group.id}" checked' in answer.text


async def test_a_user_without_grants_is_offered_no_groups(site: Site, charlie: Visitor) -> None:
    group = await site.app.pools.create("news", PoolRule())

    assert (await charlie.see("/settings/api-keys")).xpath("//input[@name='pool_group']") == []
    answer = await charlie.send("/settings/api-keys", name="x", scope=["pools"], pool_group=[str(group.id)], days="")

    assert answer.status_code == 422


async def test_the_keys_that_a_key_created_are_shown_before_it_is_revoked(site: Site, alice: Visitor) -> None:
    made = await alice.send("/settings/api-keys", name="maker", scope=["read", "write"], days="")
    [key] = re.findall(r'value="(fm_[^"]+)" readonly', made.text)
    program = await site.browser(Authorization=f"Bearer {key}")
    await program.post("/api/api-keys", json={"name": "made", "scopes": ["read"]})

    page = await alice.see("/settings/api-keys")
    assert "Created with the key “maker”" in text_of(page)
    assert "Revoking it also revokes the key that was created with it." in text_of(page)
    [_, action] = page.xpath("//tbody//form/@action")
    await alice.send(action)

    assert "You have no API keys." in text_of(await alice.see("/settings/api-keys"))


# --- webhooks ---------------------------------------------------------------------------------------------


async def test_a_webhook_is_added_tested_paused_and_deleted(site: Site, alice: Visitor) -> None:
    site.web.serve("/hook", Answer(b"", 204))
    url = site.web.url("/hook")
    made = await alice.send("/settings/webhooks", url=url, event=["entries.new", "feed.failing"])
    assert re.search(r'id="secret" type="text" value="[\w-]{40,}" readonly', made.text)
    [path] = (await alice.see("/settings/webhooks")).xpath("//tbody//th/a/@href")

    await alice.send(f"{path}/test")
    await site.app.webhooks.deliver()

    page = await alice.see(path)
    assert "Delivered" in text_of(page)
    assert "204" in text_of(page)
    [again] = page.xpath("//tbody//form/@action")
    await alice.send(again)
    assert "It will be sent again in a few seconds." in text_of(await alice.see(path))
    await alice.send(again)
    assert "It is already being retried." in text_of(await alice.see(path))
    await alice.send(f"{path}/pause")
    assert "Nothing is sent while it is paused" in text_of(await alice.see(path))
    await alice.send(path, url=url, event="feed.healed")
    assert (await alice.see(path)).xpath("//input[@name='event'][@checked]/@value") == ["feed.healed"]
    await alice.send(f"{path}/delete")
    assert "You have no webhooks." in text_of(await alice.see("/settings/webhooks"))


async def test_an_invalid_webhook_is_reported_next_to_its_field(alice: Visitor) -> None:
    answer = await alice.send("/settings/webhooks", url="ftp://example.org/", event="entries.new")

    assert answer.status_code == 422
    assert "begins with https:// or http://" in answer.text
    assert 'value="ftp://example.org/"' in answer.text
    assert (await alice.send("/settings/webhooks", url="https://example.org/")).status_code == 422


async def test_keys_and_webhooks_of_other_users_are_not_found(site: Site, alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/settings/webhooks", url="https://example.org/hook", event="entries.new")
    await alice.send("/settings/api-keys", name="mine", scope="read", days="")
    [hook] = (await alice.see("/settings/webhooks")).xpath("//tbody//th/a/@href")
    [key] = (await alice.see("/settings/api-keys")).xpath("//tbody//form/@action")
    await Visitor.signed_in(site, "alice")
    [session] = (await alice.see("/settings/sessions")).xpath("//tbody//form/@action")

    assert (await charlie.client.get(hook)).status_code == 404
    for path in (key, session, f"{hook}/test", f"{hook}/delete", f"{hook}/deliveries/1", f"{hook}/nothing"):
        assert (await charlie.send(path)).status_code == 404, path
    assert (await charlie.send(hook, url="https://charlie.example/", event="entries.new")).status_code == 404
    assert "example.org/hook" in text_of(await alice.see("/settings/webhooks"))


@pytest.mark.parametrize("path", ["/settings", "/settings/sessions", "/settings/api-keys", "/settings/webhooks"])
async def test_settings_need_a_sign_in_and_forms_need_their_token(site: Site, alice: Visitor, path: str) -> None:
    nobody = await site.browser()

    assert (await nobody.get(path)).headers["location"] == f"/login?next={path}"
    assert (await alice.client.post("/settings", data={"theme": "dark"})).status_code == 403
