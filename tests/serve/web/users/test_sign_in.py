"""Signing in and out."""

import httpx
import pytest

from tests.browser.sample_feeds import PASSWORD
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor

pytestmark = pytest.mark.usefixtures("alice")


async def test_signing_in_leads_back_to_the_requested_page(site: Site, nobody: httpx.AsyncClient) -> None:
    asked = await nobody.get("/folder/1?show=all")
    assert asked.headers["location"] == "/login?next=/folder/1%3Fshow%3Dall"

    form = await nobody.get(asked.headers["location"])
    assert 'name="next" value="/folder/1?show=all"' in form.text

    answer = await nobody.post("/login", data={"name": "alice", "password": PASSWORD, "next": "/folder/1?show=all"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/folder/1?show=all")


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)"])
async def test_signing_in_never_redirects_to_another_site(nobody: httpx.AsyncClient, to: str) -> None:
    assert "evil" not in (await nobody.get("/login", params={"next": to})).text

    answer = await nobody.post("/login", data={"name": "alice", "password": PASSWORD, "next": to})

    assert answer.headers["location"] == "/"


async def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(nobody: httpx.AsyncClient) -> None:
    answers = [
        await nobody.post("/login", data={"name": name, "password": password})
        for name, password in (("alice", "not the password"), ("nobody", PASSWORD))
    ]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert all("Name or password is wrong." in answer.text for answer in answers)
    assert all("feedmill_session" not in answer.cookies for answer in answers)


async def test_too_many_attempts_are_refused_with_the_time_to_wait(nobody: httpx.AsyncClient) -> None:
    for _ in range(30):
        answer = await nobody.post("/login", data={"name": "alice", "password": "not the password"})
        if answer.status_code == 429:
            break

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) > 0
    assert "Too many attempts." in answer.text


async def test_the_sessions_cookie_is_out_of_reach_of_scripts_and_other_sites(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.post("/login", data={"name": "alice", "password": PASSWORD})

    [cookie] = [value for value in answer.headers.get_list("set-cookie") if value.startswith("feedmill_session=")]
    assert {"httponly", "samesite=lax", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}


@pytest.mark.parametrize("headers", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
async def test_another_site_cannot_sign_a_browser_in(nobody: httpx.AsyncClient, headers: dict[str, str]) -> None:
    answer = await nobody.post("/login", data={"name": "alice", "password": PASSWORD}, headers=headers)

    assert answer.status_code == 403
    assert "feedmill_session" not in answer.cookies


async def test_signing_out_ends_the_session(alice: Visitor) -> None:
    session = alice.client.cookies["feedmill_session"]

    assert (await alice.send("/logout")).headers["location"] == "/login"

    alice.client.cookies.set("feedmill_session", session)
    assert (await alice.client.get("/unread")).headers["location"].startswith("/login")


async def test_a_script_without_a_session_is_redirected_to_the_sign_in_page(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.get("/item/1", headers={"HX-Request": "true"})

    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/login?next=/item/1")
