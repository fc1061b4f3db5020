"""Accounts with two factors over HTTP: no route gives a session for the password alone."""

from datetime import UTC, datetime

import httpx
import pytest

from feedmill.library.users.manage_users import make_user
from feedmill.model.user import Actor
from tests.library.users.second_factors import Authenticator, set_up_two_factor
from tests.serve.rest.site import Site

DORA = {"name": "dora", "password": "battery staple"}


@pytest.fixture
async def dora(site: Site) -> Authenticator:
    user = await make_user(site.app.db, DORA["name"], DORA["password"], False, datetime.now(UTC), Actor())
    encryption = site.app.tools.encryption
    return await set_up_two_factor(site.app.db, user, DORA["password"], datetime.now(UTC), encryption)


@pytest.mark.parametrize("path", ["/api/sessions", "/api/auth/token"])
async def test_a_route_that_takes_a_password_asks_for_the_code(
    nobody: httpx.AsyncClient, dora: Authenticator, path: str
) -> None:
    without = await nobody.post(path, json=DORA)
    wrong = await nobody.post(path, json=DORA | {"code": "000000"})
    code = dora.code(datetime.now(UTC))
    right = await nobody.post(path, json=DORA | {"code": code})
    again = await nobody.post(path, json=DORA | {"code": code})

    assert (without.status_code, without.json()["code"]) == (401, "second_factor_required")
    assert (wrong.status_code, wrong.json()["code"]) == (401, "wrong_code")
    assert right.is_success
    assert (again.status_code, again.json()["code"]) == (401, "wrong_code")
    assert "feedmill_session" not in without.cookies


@pytest.mark.parametrize("path", ["/api/sessions", "/api/auth/token"])
async def test_a_recovery_code_is_a_code_too(nobody: httpx.AsyncClient, dora: Authenticator, path: str) -> None:
    assert (await nobody.post(path, json=DORA | {"code": dora.recovery_codes[0]})).is_success


@pytest.mark.usefixtures("dora")
async def test_the_password_opens_no_api_of_reader_apps(nobody: httpx.AsyncClient) -> None:
    login = {"Email": DORA["name"], "Passwd": DORA["password"]}

    assert (await nobody.post("/accounts/ClientLogin", data=login)).status_code in (401, 403)
    basic = httpx.BasicAuth(DORA["name"], DORA["password"])
    assert (await nobody.get("/v1/me", auth=basic)).status_code == 401
    assert (await nobody.get("/v1/me", headers={"X-Auth-Token": DORA["password"]})).status_code == 401


async def test_changing_the_password_needs_a_code(nobody: httpx.AsyncClient, dora: Authenticator) -> None:
    signed_in = await nobody.post("/api/sessions", json=DORA | {"code": dora.recovery_codes[0]})
    headers = {"X-CSRF-Token": signed_in.json()["csrf_token"]}
    sent = {"current": DORA["password"], "new": "another password"}

    refused = await nobody.put("/api/me/password", json=sent, headers=headers)
    changed = await nobody.put("/api/me/password", json=sent | {"code": dora.recovery_codes[1]}, headers=headers)

    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, "code")
    assert changed.status_code == 200


async def test_the_account_says_since_when_it_has_two_factors(nobody: httpx.AsyncClient, dora: Authenticator) -> None:
    signed_in = await nobody.post("/api/sessions", json=DORA | {"code": dora.recovery_codes[0]})

    assert signed_in.json()["two_factor_at"] is not None
