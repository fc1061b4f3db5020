"""Links that sign a user in once, and sites without passwords."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill.library.users.sign_in_links import LINK_LIFETIME, create_sign_in_link
from feedmill.model.user import Actor
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import web_on_one_port
from tests.serve.rest.site import ORIGIN, Site, running_site
from tests.serve.web.site_folder_template import copy_site_folder
from tests.serve.web.visitor import Visitor, text_of


async def link_of(site: Site, user: Visitor, made_at: datetime) -> str:
    found = await user.user(site)
    return f"/sign-in-link/{await create_sign_in_link(site.app.db, found, LINK_LIFETIME, made_at, Actor())}"


async def test_a_link_signs_in_once(site: Site, alice: Visitor) -> None:
    link = await link_of(site, alice, datetime.now(UTC))
    browser = await site.browser()

    assert "Welcome, alice" in (await browser.get(link)).text
    assert "Welcome, alice" in (await browser.get(link)).text
    assert (await browser.post(link)).status_code == 303
    assert (await browser.get("/api/me")).json()["name"] == "alice"

    thief = await site.browser()
    assert (await thief.post(link)).status_code == 404
    assert (await thief.get(link)).status_code == 404


async def test_a_link_ends_after_an_hour(site: Site, alice: Visitor) -> None:
    link = await link_of(site, alice, datetime.now(UTC) - timedelta(hours=1, seconds=1))

    assert (await (await site.browser()).post(link)).status_code == 404


async def test_a_new_link_ends_the_one_before(site: Site, alice: Visitor) -> None:
    first = await link_of(site, alice, datetime.now(UTC))
    await link_of(site, alice, datetime.now(UTC))

    assert (await (await site.browser()).post(first)).status_code == 404


async def test_another_site_cannot_use_a_link(site: Site, alice: Visitor) -> None:
    link = await link_of(site, alice, datetime.now(UTC))

    answer = await (await site.browser()).post(link, headers={"Sec-Fetch-Site": "cross-site"})

    assert answer.status_code == 403
    assert (await (await site.browser()).get(link)).status_code == 200


async def test_an_admin_invites_somebody(site: Site, alice: Visitor) -> None:
    page = await alice.send("/admin/users/new", name="Erin", invite="yes")
    [link] = [word for word in page.text.split('"') if word.startswith(f"{ORIGIN}/sign-in-link/")][:1]

    browser = await site.browser()
    await browser.post(link)

    assert (await browser.get("/api/me")).json()["name"] == "erin"
    assert "Change the password" not in (await browser.get("/settings")).text


async def test_an_admin_makes_a_link_for_an_account(site: Site, alice: Visitor, charlie: Visitor) -> None:
    user = await charlie.user(site)

    page = await alice.send(f"/admin/users/{user.id}/sign-in-link")

    assert f"{ORIGIN}/sign-in-link/" in page.text
    assert (await charlie.send(f"/admin/users/{user.id}/sign-in-link")).status_code == 403


@pytest.fixture
async def site_without_passwords(tmp_path: Path) -> AsyncIterator[Site]:
    async with web_on_one_port() as web:
        await copy_site_folder(tmp_path, web)
        async with running_site(tmp_path, web, password_sign_in=False, registration=True) as site:
            yield site


async def test_without_passwords_nobody_signs_in_with_one(site_without_passwords: Site) -> None:
    browser = await site_without_passwords.browser()
    account = {"name": "alice", "password": PASSWORD}

    assert (await browser.post("/login", data=account)).status_code == 403
    assert (await browser.post("/api/sessions", json=account)).status_code == 403
    assert (await browser.post("/api/auth/token", json=account)).status_code == 403
    assert (await browser.post("/register", data={**account, "name": "erin", "again": PASSWORD})).status_code == 403
    assert (await browser.post("/api/register", json={**account, "name": "erin"})).status_code == 403
    assert 'type="password"' not in (await browser.get("/login")).text


async def test_without_passwords_a_link_lets_the_operator_in(site_without_passwords: Site) -> None:
    site, browser = site_without_passwords, await site_without_passwords.browser()

    await browser.post(await link_of(site, Visitor("alice", browser), datetime.now(UTC)))

    assert "alice" in text_of(await Visitor("alice", browser).see("/admin"))
