"""Signing in by the header of a trusted proxy."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from lxml import html
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from feedmill.model.user import DISABLED
from feedmill.serve.http.connections.proxy_user import RecordPeer
from feedmill.store.users.users import count_users, user_of_name
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import web_on_one_port
from tests.serve.rest.site import ORIGIN, Site, running_site
from tests.serve.web.site_folder_template import copy_site_folder
from tests.serve.web.visitor import Visitor, text_of

PROXY, STRANGER = "10.0.0.5", "203.0.113.9"
AS_ALICE = {"Remote-User": "Alice"}


@pytest.fixture
async def site(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Site]:
    """A site behind a proxy that names users; the test may change the settings."""
    given: dict[str, Any] = {"sign_in_header": "Remote-User", "sign_in_header_from": "10.0.0.0/24"}
    async with web_on_one_port() as web:
        await copy_site_folder(tmp_path, web)
        async with running_site(tmp_path, web, **(given | getattr(request, "param", {}))) as site:
            yield site


def set_site(**settings: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("site", [settings], indirect=True)


async def browser_at(site: Site, address: str, **headers: str) -> httpx.AsyncClient:
    """A client whose connection comes from this address, as `uvicorn_config` hands it on."""
    server: Any = RecordPeer(ProxyHeadersMiddleware(site.asgi, "10.0.0.5"))  # type: ignore[arg-type]
    transport = httpx.ASGITransport(server, client=(address, 1234))
    client = httpx.AsyncClient(transport=transport, base_url=ORIGIN, headers=headers)
    return await site.closing.enter_async_context(client)


async def test_whom_the_proxy_names_is_signed_in(site: Site) -> None:
    browser = await browser_at(site, PROXY, **AS_ALICE, **{"X-Forwarded-For": STRANGER})

    asked = await browser.get("/starred")
    answer = await browser.get(asked.headers["location"])

    assert (answer.status_code, answer.headers["location"]) == (303, "/starred")
    assert (await browser.get("/starred")).status_code == 200
    assert STRANGER in text_of(await Visitor("alice", browser).see("/settings/sessions"))


@pytest.mark.parametrize("forged", [{}, {"X-Forwarded-For": PROXY}, {"X-Real-IP": PROXY, "Forwarded": f"for={PROXY}"}])
async def test_the_header_from_another_network_is_ignored_and_logged(
    site: Site, forged: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    browser = await browser_at(site, STRANGER, **AS_ALICE, **forged)

    answer = await browser.get("/login")

    assert answer.status_code == 200
    assert "feedmill_session" not in answer.cookies
    assert "sign_in_header_ignored" in capsys.readouterr().out


@set_site(sign_in_header_from="")
async def test_without_networks_nobody_is_believed(site: Site) -> None:
    answer = await (await browser_at(site, PROXY, **AS_ALICE)).get("/login")

    assert "feedmill_session" not in answer.cookies


async def test_without_the_record_of_the_connection_nobody_is_believed(site: Site) -> None:
    answer = await (await site.browser(**AS_ALICE)).get("/login")

    assert "feedmill_session" not in answer.cookies


async def test_a_header_that_is_there_twice_names_nobody(site: Site) -> None:
    browser = await browser_at(site, PROXY)

    answer = await browser.get("/login", headers=[("Remote-User", "alice"), ("Remote-User", "bob")])

    assert "feedmill_session" not in answer.cookies


async def test_an_unknown_user_is_refused(site: Site) -> None:
    users = await count_users(site.app.db)

    answer = await (await browser_at(site, PROXY, **{"Remote-User": "erin"})).get("/login")

    assert answer.status_code == 403
    assert "erin, who has no account here" in answer.text
    assert await count_users(site.app.db) == users


@set_site(sign_in_header_creates=True)
@pytest.mark.parametrize("name", ["Erin", "émile"])
async def test_an_unknown_user_is_created_if_that_is_set(site: Site, name: str) -> None:
    browser = await browser_at(site, PROXY)

    answer = await browser.get("/login", headers={"Remote-User": name.encode()})

    assert answer.status_code == 303
    user = await user_of_name(site.app.db, name.casefold())
    assert user is not None
    assert (user.is_admin, user.has_password) == (False, False)


@set_site(sign_in_header_creates=True)
@pytest.mark.parametrize("name", ["a b", "<script>", "x" * 100, "--"])
async def test_a_name_that_can_be_none_is_refused(site: Site, name: str) -> None:
    answer = await (await browser_at(site, PROXY, **{"Remote-User": name})).get("/login")

    assert answer.status_code == 403
    assert "<script>" not in answer.text.replace("</script>", "").partition("<body")[2]


async def test_a_disabled_user_is_refused(site: Site) -> None:
    await site.app.db.exec(f"UPDATE users SET status = '{DISABLED}' WHERE name = 'alice'")

    assert (await (await browser_at(site, PROXY, **AS_ALICE)).get("/login")).status_code == 403


@pytest.mark.parametrize("path", ["/api/me", "/reader/api/0/user-info", "/v1/me", "/fever/?api", "/unread"])
async def test_no_other_path_takes_the_header(site: Site, path: str) -> None:
    answer = await (await browser_at(site, PROXY, **AS_ALICE)).get(path)

    assert answer.status_code in (303, 401, 404) or '"auth":0' in answer.text.replace(" ", "")
    assert "feedmill_session" not in answer.cookies


async def test_changes_still_need_the_csrf_token(site: Site) -> None:
    browser = await browser_at(site, PROXY, **AS_ALICE)
    await browser.get("/login")

    assert (await browser.post("/labels", data={"name": "mine"})).status_code == 403
    assert (await Visitor("alice", browser).send("/labels", name="mine")).status_code == 303


@set_site(sign_in_header_creates=True)
async def test_a_session_ends_when_the_proxy_names_somebody_else(site: Site) -> None:
    browser = await browser_at(site, PROXY)
    await browser.get("/login", headers=AS_ALICE)
    as_bob = {"Remote-User": "bob"}

    assert (await browser.get("/starred", headers=as_bob)).headers["location"].startswith("/login")
    assert (await browser.get("/api/me", headers=as_bob)).status_code == 401
    await browser.get("/login", headers=as_bob)

    assert (await browser.get("/api/me", headers=as_bob)).json()["name"] == "bob"


async def test_a_password_still_works_without_the_header(site: Site) -> None:
    browser = await browser_at(site, STRANGER)

    assert (await browser.post("/login", data={"name": "alice", "password": PASSWORD})).status_code == 303


@set_site(sign_out_url="https://auth.example.org/logout")
async def test_signing_out_leads_to_the_proxy(site: Site) -> None:
    browser = await browser_at(site, PROXY, **AS_ALICE)
    await browser.get("/login")

    leaving = await Visitor("alice", browser).send("/logout")

    [url] = html.fromstring(leaving.text).xpath("//a[contains(@class, 'main')]/@href")
    assert url == "https://auth.example.org/logout"
    assert "feedmill_session" not in browser.cookies


async def test_signing_out_does_not_sign_in_again_by_itself(site: Site) -> None:
    browser = await browser_at(site, PROXY, **AS_ALICE)
    await browser.get("/login")

    answer = await Visitor("alice", browser).send("/logout")
    page = await browser.get(answer.headers["location"])

    assert page.status_code == 200
    assert "feedmill_session" not in browser.cookies
    assert "Sign in as Alice" in page.text


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example"])
async def test_the_proxys_sign_in_never_redirects_to_another_site(site: Site, to: str) -> None:
    answer = await (await browser_at(site, PROXY, **AS_ALICE)).get("/login", params={"next": to})

    assert answer.headers["location"] == "/"
