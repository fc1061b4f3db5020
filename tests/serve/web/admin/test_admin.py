"""Administration without scripts: accounts, feeds, the queue, storage usage, and the audit log."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from feedmill.library.users.manage_users import create_first_admin, make_user
from feedmill.model.user import Actor
from feedmill.store.feeds.claims import claim_feeds
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.serve.web.visitor import Visitor, text_of

PAGES = (
    "/admin",
    "/admin/users/new",
    "/admin/users/1",
    "/admin/feeds",
    "/admin/feeds?failing=yes",
    "/admin/feeds/1",
    "/admin/queue",
    "/admin/hosts",
    "/admin/hosts/example.org",
    "/admin/storage",
    "/admin/log",
    "/admin/settings",
    "/admin/audit",
    "/admin/feeds/1/merge",
    "/admin/feeds/1/merge?into=2",
)


def rows(page: Any) -> list[str]:
    return [" ".join(" ".join(row.itertext()).split()) for row in page.xpath("//tbody/tr")]


def made_up_password(text: str) -> str:
    [password] = re.findall(r'id="password" type="text" value="([^"]+)" readonly', text)
    return str(password)


@pytest.mark.parametrize("path", PAGES)
async def test_every_page_is_for_admins_only(alice: Visitor, charlie: Visitor, path: str) -> None:
    page = await alice.see(path)

    assert len(page.xpath("//h1")) == 1
    assert page.xpath("//nav[@id='nav']//a[@href='/admin']/@aria-current") == ["page"]
    refused = await charlie.client.get(path)
    assert refused.status_code == 403
    assert "Not allowed" in refused.text


async def test_other_users_see_no_link_and_may_change_nothing(alice: Visitor, charlie: Visitor) -> None:
    assert (await charlie.see("/unread")).xpath("//a[@href='/admin']") == []

    for path in ("users/new", "users/1", "users/1/password", "users/1/delete", "feeds/1", "feeds/1/pause"):
        assert (await charlie.send(f"/admin/{path}", name="x", url="https://x.example/")).status_code == 403, path
    assert (await charlie.send("/admin/queue/retry/deliveries")).status_code == 403


async def test_a_new_account_gets_a_password_that_is_shown_once(site: Site, alice: Visitor) -> None:
    made = await alice.send("/admin/users/new", name="Bob", password="")
    password = made_up_password(made.text)

    bob = await site.browser()
    assert (await bob.post("/login", data={"name": "bob", "password": password})).status_code == 303
    assert any(row.startswith("bob Active 0 0 B") for row in rows(await alice.see("/admin")))
    assert password not in (await alice.client.get("/admin/users/2")).text


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "alice"}, "This name is taken"),
        ({"name": "no good"}, "A name has 1 to 64"),
        ({"name": "bob", "password": "short"}, "8 to 1000"),
    ],
)
async def test_an_invalid_account_is_explained(alice: Visitor, fields: dict[str, str], said: str) -> None:
    answer = await alice.send("/admin/users/new", **fields)

    assert answer.status_code == 422
    assert said in answer.text


async def test_quotas_are_set_and_shown(alice: Visitor, charlie: Visitor) -> None:
    user = await _path_of(alice, "charlie")

    await alice.send(user, quota_feeds="30", quota_bytes="250")

    assert any("charlie Active 0 of 30 0 B of 250 MB" in row for row in rows(await alice.see("/admin")))
    page = await alice.see(user)
    assert page.xpath("//input[@name='quota_bytes']/@value") == ["250"]
    wrong = await alice.send(user, quota_feeds="some", quota_bytes="")
    assert (wrong.status_code, "Enter a whole number" in wrong.text) == (422, True)
    await alice.send(user, quota_feeds="", quota_bytes="")
    assert not any("of" in row for row in rows(await alice.see("/admin")))


async def test_a_disabled_user_is_signed_out_until_enabled_again(alice: Visitor, charlie: Visitor) -> None:
    user = await _path_of(alice, "charlie")

    await alice.send(f"{user}/disable")

    assert (await charlie.client.get("/unread")).status_code == 303
    assert "Disabled" in text_of(await alice.see(user))
    await alice.send(f"{user}/enable")
    assert "Disabled" not in text_of(await alice.see(user))


async def test_a_reset_password_is_shown_once_and_works(site: Site, alice: Visitor, charlie: Visitor) -> None:
    answer = await alice.send(f"{await _path_of(alice, 'charlie')}/password")
    password = made_up_password(answer.text)

    browser = await site.browser()
    assert (await charlie.client.get("/unread")).status_code == 303
    assert (await browser.post("/login", data={"name": "charlie", "password": PASSWORD})).status_code == 401
    assert (await browser.post("/login", data={"name": "charlie", "password": password})).status_code == 303


async def test_a_password_reset_lists_the_keys_that_stay_and_offers_to_revoke_them(
    alice: Visitor, charlie: Visitor
) -> None:
    await charlie.send("/settings/api-keys", name="mine", scope=["read"], days="")
    user = await _path_of(alice, "charlie")
    assert "Also revoke their API key" in text_of(await alice.see(user))

    kept = await alice.send(f"{user}/password")
    revoked = await alice.send(f"{user}/password", revoke_keys="yes")

    assert "Sessions ended: 1. Keys revoked: 0. Keys still valid: 1." in kept.text
    assert "Sessions ended: 0. Keys revoked: 1. Keys still valid: 0." in revoked.text


async def test_an_account_is_deleted_but_not_the_last_admin(alice: Visitor, charlie: Visitor) -> None:
    await alice.send(f"{await _path_of(alice, 'charlie')}/delete")
    assert [row.split()[0] for row in rows(await alice.see("/admin"))] == ["alice"]

    await alice.send("/admin/users/1/delete")
    assert "This is the last admin." in text_of(await alice.see("/admin"))
    await alice.send("/admin/users/1", is_admin="", quota_feeds="", quota_bytes="")
    assert "This is the last admin." in text_of(await alice.see("/admin"))
    assert (await alice.see("/admin/users/1")).xpath("//form[contains(@action, 'disable')]") == []


@pytest.mark.parametrize(
    ("setting", "said"),
    [(False, "Only admins create accounts."), (True, "Visitors may create their own accounts.")],
)
async def test_the_registration_setting_is_shown(tmp_path: Path, setting: bool, said: str) -> None:
    async with Web() as web, running_site(tmp_path, web, registration=setting) as site:
        await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))

        assert said in text_of(await (await Visitor.signed_in(site, "alice")).see("/admin"))


async def test_a_feed_is_paused_resumed_and_moved_for_everybody(site: Site, alice: Visitor) -> None:
    assert any("Quiet Systems" in row and "Healthy 1 5" in row for row in rows(await alice.see("/admin/feeds")))

    await alice.send("/admin/feeds/1/pause")
    assert "The feed is paused for everybody." in text_of(await alice.see("/admin/feeds/1"))
    await alice.send("/admin/feeds/1/resume")
    assert "The feed is due at once." in text_of(await alice.see("/admin/feeds/1"))
    await alice.send("/admin/feeds/1", url="https://elsewhere.example/feed")

    page = await alice.see("/admin/feeds/1")
    assert page.xpath("//input[@name='url']/@value") == ["https://elsewhere.example/feed"]
    taken = await alice.send("/admin/feeds/1", url=site.web.url("/zh.xml"))
    assert (taken.status_code, "Another feed already has this address" in taken.text) == (422, True)
    wrong = await alice.send("/admin/feeds/1", url="nothing like it")
    assert (wrong.status_code, "This is not the address of a feed" in wrong.text) == (422, True)


async def test_running_and_waiting_jobs_are_in_the_queue(site: Site, alice: Visitor) -> None:
    await alice.send("/admin/feeds/2/resume")
    await claim_feeds(site.app.db, [1], datetime.now(UTC))

    page = await alice.see("/admin/queue")

    said = text_of(page)
    assert "This server runs everything itself." in said
    assert "DatabaseOK" in said
    assert "Scheduled0 jobs waiting" in said
    running, waiting = page.xpath("//section[h2[@id='running']]")[0], page.xpath("//section[h2[@id='waiting']]")[0]
    assert "Quiet Systems" in text_of(running)
    assert "127.0.0.1" in text_of(waiting)
    assert "No fetch failed in the last day." in said


async def test_failed_webhook_deliveries_are_tried_again(site: Site, alice: Visitor) -> None:
    hook = await site.app.webhooks.create((await alice.user(site)).id, "http://10.0.0.1/", [])
    await site.app.webhooks.test(hook.user_id, hook.id)
    await site.app.webhooks.deliver()
    page = await alice.see("/admin/queue")
    assert page.xpath("//form[@action='/admin/queue/retry/deliveries']")

    await alice.send("/admin/queue/retry/deliveries")

    assert "One call is retried." in text_of(await alice.see("/admin/queue"))
    [again] = await site.app.webhooks.deliveries(hook.user_id, hook.id, 2**53 - 1, 5)
    assert again.status == "pending"


async def test_hosts_storage_and_the_audit_log_are_listed(site: Site, alice: Visitor) -> None:
    await make_user(site.app.db, "bob", PASSWORD, False, datetime.now(UTC), Actor(1, "192.0.2.7"))

    assert rows(await alice.see("/admin/hosts"))[0].startswith("127.0.0.1 2 0")
    storage = await alice.see("/admin/storage")
    assert "Items8" in text_of(storage)
    assert len(rows(storage)) == 2
    first, *_ = rows(await alice.see("/admin/audit"))
    assert first == "now alice user.add bob 192.0.2.7"


async def test_a_missing_item_is_not_found(alice: Visitor) -> None:
    for path in ("/admin/users/99", "/admin/feeds/99", "/admin/users/9007199254740993", "/admin?cursor=nonsense"):
        assert (await alice.client.get(path)).status_code == 404, path
    for path in ("/admin/users/1/explode", "/admin/feeds/1/explode", "/admin/users/99/delete"):
        assert (await alice.send(path)).status_code == 404, path


async def _path_of(visitor: Visitor, name: str) -> str:
    [path] = (await visitor.see("/admin")).xpath(f"//tbody//a[.='{name}']/@href")
    return str(path)
