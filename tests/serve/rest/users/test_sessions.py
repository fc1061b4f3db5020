"""Setting up, signing in and out with a browser, and the CSRF protection of its cookie."""

from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from feedmill.library.users.manage_users import make_user
from feedmill.model.user import Actor
from feedmill.serve.http.csrf import csrf_token_for
from tests.scripted_web import Web
from tests.serve.rest.site import Person, Site, running_site

ADMIN = {"name": "Alice", "password": "correct horse"}
DORA = {"name": "dora", "password": "battery staple"}


@pytest.fixture
async def dora(site: Site) -> httpx.AsyncClient:
    """A browser that is signed in."""
    await make_user(site.app.db, DORA["name"], DORA["password"], False, datetime.now(UTC), Actor())
    browser = await site.browser()
    assert (await browser.post("/api/sessions", json=DORA)).status_code == 201
    return browser


def csrf(browser: httpx.AsyncClient) -> dict[str, str]:
    return {"X-CSRF-Token": csrf_token_for(browser.cookies["feedmill_session"])}


async def test_the_first_visitor_becomes_the_admin_and_is_signed_in(nobody: httpx.AsyncClient) -> None:
    assert (await nobody.get("/api/setup")).json() == {"needs_setup": True, "registration": False}

    made = await nobody.post("/api/setup", json=ADMIN)

    assert (made.status_code, made.json()["name"], made.json()["is_admin"]) == (201, "alice", True)
    assert (await nobody.get("/api/me")).json() == made.json()
    assert (await nobody.get("/api/setup")).json()["needs_setup"] is False


async def test_a_second_setup_is_refused(nobody: httpx.AsyncClient, site: Site) -> None:
    await nobody.post("/api/setup", json=ADMIN)
    second = await site.browser()

    answer = await second.post("/api/setup", json=DORA)

    assert (answer.status_code, answer.json()["code"], dict(second.cookies)) == (409, "already_set_up", {})


@pytest.mark.parametrize(("field", "value"), [("name", "a b"), ("password", "x")])
async def test_an_invalid_value_is_reported_with_its_field(nobody: httpx.AsyncClient, field: str, value: str) -> None:
    answer = await nobody.post("/api/setup", json=ADMIN | {field: value})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


@pytest.mark.parametrize("path", ["/api/setup", "/api/sessions", "/api/register"])
@pytest.mark.parametrize(
    "headers", [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"}]
)
async def test_no_other_site_can_sign_a_browser_in(
    nobody: httpx.AsyncClient, path: str, headers: dict[str, str]
) -> None:
    answer = await nobody.post(path, json=ADMIN, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "bad_csrf_token")


@pytest.mark.parametrize(("scheme", "is_secure"), [("http", False), ("https", True)])
async def test_the_cookie_is_out_of_reach_for_scripts_and_other_sites(
    site: Site, dora: httpx.AsyncClient, scheme: str, is_secure: bool
) -> None:
    answer = await dora.post(f"{scheme}://feedmill.test/api/sessions", json=DORA)

    cookie = answer.headers["set-cookie"].lower()
    assert ("httponly" in cookie, "samesite=lax" in cookie, "path=/" in cookie) == (True, True, True)
    assert ("secure" in cookie) == is_secure
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.usefixtures("dora")
@pytest.mark.parametrize("wrong", [{"name": "nobody"}, {"password": "wrong"}, {"name": "x y"}])
async def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(
    nobody: httpx.AsyncClient, wrong: dict[str, str]
) -> None:
    answer = await nobody.post("/api/sessions", json=DORA | wrong)

    assert (answer.status_code, answer.json()["code"]) == (401, "wrong_name_or_password")
    assert answer.json()["detail"] == "Name or password is wrong."
    assert "set-cookie" not in answer.headers


async def test_too_many_wrong_passwords_are_refused_with_the_time_to_wait(nobody: httpx.AsyncClient) -> None:
    answers = [await nobody.post("/api/sessions", json=DORA) for _ in range(6)]

    assert [answer.status_code for answer in answers] == [401] * 5 + [429]
    assert int(answers[-1].headers["retry-after"]) >= 1


async def test_a_change_with_the_cookie_needs_a_csrf_token(dora: httpx.AsyncClient) -> None:
    new = {"name": "script", "scopes": ["read"]}

    without = await dora.post("/api/api-keys", json=new)
    wrong = await dora.post("/api/api-keys", json=new, headers={"X-CSRF-Token": csrf_token_for("another session")})
    elsewhere = await dora.post("/api/api-keys", json=new, headers=csrf(dora) | {"Origin": "https://evil.example"})
    ours = await dora.post("/api/api-keys", json=new, headers=csrf(dora) | {"Origin": "http://feedmill.test"})

    assert [answer.status_code for answer in (without, wrong, elsewhere, ours)] == [403, 403, 403, 201]
    assert without.json()["code"] == "bad_csrf_token"
    assert (await dora.get("/api/me")).json()["csrf_token"] == csrf(dora)["X-CSRF-Token"]


async def test_an_invalid_key_is_refused_even_with_a_valid_cookie(dora: httpx.AsyncClient) -> None:
    for credentials in ("Bearer fm_wrong", "bearer wrong", "Bearer", "Bearer "):
        assert (await dora.get("/api/me", headers={"Authorization": credentials})).status_code == 401


async def test_basic_authentication_of_a_proxy_neither_blocks_a_browser_nor_weakens_csrf_protection(
    dora: httpx.AsyncClient,
) -> None:
    for_proxy = {"Authorization": "Basic ZG9yYTp4"}

    assert (await dora.get("/api/me", headers=for_proxy)).json()["csrf_token"] == csrf(dora)["X-CSRF-Token"]
    assert (await dora.delete("/api/sessions", headers=for_proxy)).status_code == 403
    assert (await dora.delete("/api/sessions", headers=for_proxy | csrf(dora))).status_code == 200


async def test_an_unknown_cookie_is_not_signed_in(nobody: httpx.AsyncClient) -> None:
    for value in ("x", "x" * 5000, "%00", '"'):
        assert (await nobody.get("/api/me", headers={"Cookie": f"feedmill_session={value}"})).status_code == 401


async def test_sessions_are_listed_and_ended_one_by_one(site: Site, dora: httpx.AsyncClient) -> None:
    phone = await site.browser(**{"User-Agent": "phone"})
    await phone.post("/api/sessions", json=DORA)

    listed = (await dora.get("/api/sessions")).json()["items"]
    [other] = [session for session in listed if not session["is_current"]]
    assert (len(listed), other["user_agent"], other["kind"]) == (2, "phone", "browser")
    ended = await dora.delete(f"/api/sessions/{other['id']}", headers=csrf(dora))

    assert (ended.status_code, (await phone.get("/api/me")).status_code) == (204, 401)
    assert (await dora.get("/api/me")).status_code == 200


async def test_all_other_sessions_end_at_once(site: Site, dora: httpx.AsyncClient) -> None:
    others = [await site.browser() for _ in range(3)]
    for other in others:
        await other.post("/api/sessions", json=DORA)

    await dora.delete("/api/sessions", headers=csrf(dora))

    assert [(await other.get("/api/me")).status_code for other in others] == [401] * 3
    assert (await dora.get("/api/me")).status_code == 200


async def test_signing_out_removes_the_session_and_the_cookie(site: Site, dora: httpx.AsyncClient) -> None:
    kept = dora.cookies["feedmill_session"]

    await dora.delete("/api/sessions/current", headers=csrf(dora))

    assert dict(dora.cookies) == {}
    assert (await dora.get("/api/me", headers={"Cookie": f"feedmill_session={kept}"})).status_code == 401


async def test_a_new_password_ends_all_other_sessions(site: Site, dora: httpx.AsyncClient) -> None:
    other = await site.browser()
    await other.post("/api/sessions", json=DORA)
    sent = {"current": DORA["password"], "new": "another password"}

    changed = await dora.put("/api/me/password", json=sent, headers=csrf(dora))
    again = await dora.put("/api/me/password", json=sent, headers=csrf(dora))

    assert (changed.status_code, (await other.get("/api/me")).status_code) == (200, 401)
    assert (again.status_code, again.json()["errors"][0]["field"]) == (422, "current")
    assert (await other.post("/api/sessions", json=DORA | {"password": sent["new"]})).status_code == 201


async def test_visitors_cannot_register_unless_the_setting_allows_it(alice: Person, nobody: httpx.AsyncClient) -> None:
    answer = await nobody.post("/api/register", json=DORA)

    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


async def test_with_registration_open_visitors_create_an_account_and_are_signed_in(tmp_path: Path) -> None:
    async with Web() as web, running_site(tmp_path, web, registration=True) as site:
        visitor = await site.browser()
        too_early = await visitor.post("/api/register", json=DORA)
        await site.person("alice", is_admin=True)

        made = await visitor.post("/api/register", json=DORA)
        taken = await visitor.post("/api/register", json=DORA)

        assert [answer.status_code for answer in (too_early, made, taken)] == [403, 201, 409]
        assert (made.json()["is_admin"], taken.json()["code"]) == (False, "name_taken")
        assert (await visitor.get("/api/me")).json()["name"] == "dora"


@pytest.mark.parametrize("body", [b'{"name": "\\ud800", "password": "\\ud800xxxxxxxx"}', b"{", b"[]", b'{"name": 1}'])
async def test_an_invalid_name_or_password_is_refused_with_an_explanation(
    nobody: httpx.AsyncClient, body: bytes
) -> None:
    for path in ("/api/setup", "/api/sessions", "/api/auth/token"):
        answer = await nobody.post(path, content=body, headers={"Content-Type": "application/json"})

        assert answer.status_code == 422, answer.text
