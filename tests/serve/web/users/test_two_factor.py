"""Two factors in a browser: setting them up, signing in with a code, and being led to set them up."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from feedmill.library.users.sign_in_links import LINK_LIFETIME, create_sign_in_link
from feedmill.library.users.totp import code_of_step, step_at
from feedmill.library.users.two_factor import reset_two_factor
from feedmill.model.user import Actor
from tests.browser.sample_feeds import PASSWORD
from tests.library.users.second_factors import Authenticator, set_up_two_factor
from tests.scripted_web import web_on_one_port
from tests.serve.rest.site import Site, running_site
from tests.serve.web.site_folder_template import copy_site_folder
from tests.serve.web.visitor import Visitor, text_of

SIGN_IN = {"name": "alice", "password": PASSWORD, "next": "/all"}


@pytest.fixture
async def app_of_alice(site: Site, alice: Visitor) -> Authenticator:
    """Alice has two factors; the session of `alice` began before that and has ended."""
    user = await alice.user(site)
    return await set_up_two_factor(site.app.db, user, PASSWORD, datetime.now(UTC), site.app.tools.encryption)


async def enter_password(client: httpx.AsyncClient) -> httpx.Response:
    return await client.post("/login", data=SIGN_IN)


async def enter_code(client: httpx.AsyncClient, code: str, kind: str = "app") -> httpx.Response:
    return await client.post("/login/code", data={"code": code, "with": kind, "next": "/all"})


async def test_setting_it_up_shows_a_key_and_then_the_recovery_codes_once(site: Site, alice: Visitor) -> None:
    page = await alice.see("/settings/two-factor/set-up")
    [secret] = page.xpath("//input[@name='secret']/@value")
    assert page.xpath("//figure//*[local-name()='svg']")
    assert "".join(page.xpath("string(//code)").split()) == secret

    sent = {"secret": secret, "current": PASSWORD, "code": code_of_step(secret, step_at(datetime.now(UTC)))}
    wrong = await alice.send("/settings/two-factor/set-up", **{**sent, "code": "000000"})
    assert (wrong.status_code, f'value="{secret}"' in wrong.text) == (422, True)
    answer = await alice.send("/settings/two-factor/set-up", **sent)

    assert answer.status_code == 200
    assert answer.text.count("-") > 30
    assert (await alice.user(site)).has_two_factor
    assert "10 are left" in text_of(await alice.see("/settings/two-factor"))
    assert (await alice.client.get("/settings/two-factor/set-up")).headers["location"] == "/settings/two-factor"


async def test_the_password_leads_to_the_form_for_the_code_and_opens_nothing(
    nobody: httpx.AsyncClient, app_of_alice: Authenticator
) -> None:
    answer = await enter_password(nobody)

    assert answer.headers["location"] == "/login/code?next=%2Fall"
    assert "feedmill_session" not in nobody.cookies
    [cookie] = answer.headers.get_list("set-cookie")
    assert {"httponly", "samesite=strict", "path=/login/code"} <= {part.strip().lower() for part in cookie.split(";")}
    assert (await nobody.get("/unread")).headers["location"].startswith("/login")
    assert (await nobody.get("/api/me")).status_code == 401
    form = await nobody.get("/login/code")
    assert 'autocomplete="one-time-code"' in form.text
    assert 'inputmode="numeric"' in form.text


async def test_the_code_signs_in_and_leads_to_the_requested_page(
    site: Site, nobody: httpx.AsyncClient, app_of_alice: Authenticator
) -> None:
    await enter_password(nobody)

    wrong = await enter_code(nobody, "000000")
    assert (wrong.status_code, "wrong or was used before" in wrong.text) == (401, True)
    answer = await enter_code(nobody, app_of_alice.code(datetime.now(UTC)))

    assert (answer.status_code, answer.headers["location"]) == (303, "/all")
    assert (await nobody.get("/unread")).status_code == 200
    # The way between password and code has ended with it.
    assert (await nobody.get("/login/code")).headers["location"].startswith("/login?")


async def test_a_recovery_code_signs_in_once(
    site: Site, nobody: httpx.AsyncClient, app_of_alice: Authenticator
) -> None:
    code = app_of_alice.recovery_codes[0]
    await enter_password(nobody)
    assert 'autocomplete="off"' in (await nobody.get("/login/code?with=recovery")).text

    assert (await enter_code(nobody, code, "recovery")).status_code == 303

    second = await site.browser()
    await enter_password(second)
    assert (await enter_code(second, code, "recovery")).status_code == 401


async def test_a_code_without_the_password_of_this_browser_is_not_looked_at(
    site: Site, nobody: httpx.AsyncClient, app_of_alice: Authenticator
) -> None:
    await enter_password(nobody)
    code = app_of_alice.code(datetime.now(UTC))

    answer = await enter_code(await site.browser(), code)

    assert answer.headers["location"] == "/login?next=%2Fall"
    assert (await enter_code(nobody, code)).headers["location"] == "/all"


async def test_guessing_codes_is_refused_with_the_time_to_wait(
    nobody: httpx.AsyncClient, app_of_alice: Authenticator
) -> None:
    await enter_password(nobody)

    statuses = [(await enter_code(nobody, "000000")).status_code for _ in range(6)]

    assert statuses == [401] * 5 + [429]


@pytest.mark.parametrize("code", ["9" * 100_000, "١٢٣٤٥٦", "'; --", "\u202e123456"])
async def test_hostile_codes_are_wrong_codes(nobody: httpx.AsyncClient, app_of_alice: Authenticator, code: str) -> None:
    await enter_password(nobody)

    assert (await enter_code(nobody, code)).status_code == 401


async def test_another_site_cannot_send_a_code(nobody: httpx.AsyncClient, app_of_alice: Authenticator) -> None:
    await enter_password(nobody)
    sent = {"code": app_of_alice.code(datetime.now(UTC)), "with": "app"}

    answer = await nobody.post("/login/code", data=sent, headers={"Origin": "https://evil.example"})

    assert answer.status_code == 403


async def test_the_password_is_changed_with_a_code(site: Site, app_of_alice: Authenticator) -> None:
    alice = Visitor("alice", await site.browser())
    await enter_password(alice.client)
    await enter_code(alice.client, app_of_alice.recovery_codes[0])
    sent = {"current": PASSWORD, "new": "another password", "again": "another password"}

    refused = await alice.send("/settings/password", **sent)
    changed = await alice.send("/settings/password", **sent, code=app_of_alice.recovery_codes[1])

    assert (refused.status_code, "wrong or was used before" in refused.text) == (422, True)
    assert changed.status_code == 303


async def test_it_is_renewed_and_turned_off_with_password_and_code(site: Site, app_of_alice: Authenticator) -> None:
    alice = Visitor("alice", await site.browser())
    await enter_password(alice.client)
    await enter_code(alice.client, app_of_alice.recovery_codes[0])

    wrong = await alice.send("/settings/two-factor/off", current="wrong", code=app_of_alice.recovery_codes[1])
    renewed = await alice.send("/settings/two-factor/codes", current=PASSWORD, code=app_of_alice.recovery_codes[1])
    used = await alice.send("/settings/two-factor/off", current=PASSWORD, code=app_of_alice.recovery_codes[2])
    off = await alice.send("/settings/two-factor/off", current=PASSWORD, code=app_of_alice.code(datetime.now(UTC)))

    assert [answer.status_code for answer in (wrong, renewed, used, off)] == [422, 200, 422, 303]
    assert not (await alice.user(site)).has_two_factor


async def test_a_sign_in_link_replaces_the_password_and_not_the_code(
    site: Site, nobody: httpx.AsyncClient, app_of_alice: Authenticator
) -> None:
    now = datetime.now(UTC)
    token = await create_sign_in_link(site.app.db, app_of_alice.user, LINK_LIFETIME, now, Actor())

    answer = await nobody.post(f"/sign-in-link/{token}")

    assert answer.headers["location"] == "/login/code?next=%2Fsettings"
    assert (await nobody.get("/unread")).headers["location"].startswith("/login")
    assert (await enter_code(nobody, app_of_alice.code(now))).status_code == 303
    assert (await nobody.get("/unread")).status_code == 200


@pytest.mark.usefixtures("app_of_alice")
async def test_admins_see_who_has_two_factors(site: Site, charlie: Visitor) -> None:
    user = await charlie.user(site)
    await site.app.db.exec(f"UPDATE users SET is_admin = 1 WHERE id = {user.id}")

    page = await charlie.see("/admin")

    [row] = page.xpath("//tr[.//a[text()='alice']]")
    assert "2FA" in row.text_content()
    [row] = page.xpath("//tr[.//a[text()='charlie']]")
    assert "2FA" not in row.text_content()


@pytest.fixture
async def strict_site(tmp_path: Path) -> AsyncIterator[Site]:
    async with web_on_one_port() as web:
        await copy_site_folder(tmp_path, web)
        async with running_site(tmp_path, web, require_two_factor="everyone") as site:
            yield site


async def test_whoever_must_set_it_up_can_do_nothing_else(strict_site: Site) -> None:
    alice = await Visitor.signed_in(strict_site, "alice")

    for path in ("/unread", "/settings", "/settings/two-factor", "/admin", "/settings/api-keys", "/counts/events"):
        answer = await alice.client.get(path)
        assert answer.headers.get("location") == "/settings/two-factor/set-up", path
    created = await alice.send("/settings/apps", app="reeder", name="phone")
    assert created.headers["location"] == "/settings/two-factor/set-up"
    api = await alice.client.get("/api/me")
    assert (api.status_code, api.json()["code"]) == (403, "two_factor_missing")
    assert (await alice.client.get("/icons/x")).status_code == 404
    assert "requires two-factor authentication" in text_of(await alice.see("/settings/two-factor/set-up"))
    assert (await alice.send("/logout")).headers["location"] == "/login"


async def test_after_setting_it_up_everything_opens(strict_site: Site) -> None:
    alice = await Visitor.signed_in(strict_site, "alice")
    page = await alice.see("/settings/two-factor/set-up")
    [secret] = page.xpath("//input[@name='secret']/@value")
    code = code_of_step(secret, step_at(datetime.now(UTC)))

    await alice.send("/settings/two-factor/set-up", secret=secret, current=PASSWORD, code=code)

    assert (await alice.client.get("/unread")).status_code == 200
    await reset_two_factor(strict_site.app.db, await alice.user(strict_site), Actor(), datetime.now(UTC))
    assert (await alice.client.get("/unread")).headers["location"] == "/settings/two-factor/set-up"


async def test_keys_work_where_two_factors_are_required(strict_site: Site) -> None:
    dora = await strict_site.person("dora")

    assert (await dora.client.get("/api/me")).status_code == 200
