"""Access tokens for API clients: short-lived, each renewed once, and invalid as soon as their session ends."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
import pytest

from feedmill.library.users.manage_users import make_user
from feedmill.model.user import DISABLED, Actor, User
from feedmill.serve.http.signing_key import signing_key
from feedmill.store.admin.users import update_user
from tests.serve.rest.site import Site

DORA = {"name": "dora", "password": "battery staple"}


@pytest.fixture
async def dora(site: Site) -> User:
    return await make_user(site.app.db, DORA["name"], DORA["password"], False, datetime.now(UTC), Actor())


@pytest.fixture
async def pair(dora: User, nobody: httpx.AsyncClient) -> dict[str, Any]:
    answer = await nobody.post("/api/auth/token", json=DORA)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    pair: dict[str, Any] = answer.json()
    return pair


async def status(client: httpx.AsyncClient, token: str) -> int:
    return (await client.get("/api/me", headers={"Authorization": f"Bearer {token}"})).status_code


async def renew(client: httpx.AsyncClient, pair: Mapping[str, str]) -> httpx.Response:
    return await client.post("/api/auth/refresh", json={"refresh_token": pair["refresh_token"]})


async def test_name_and_password_give_a_token_that_works_for_the_api(
    nobody: httpx.AsyncClient, pair: dict[str, Any]
) -> None:
    assert (pair["token_type"], pair["expires_in"]) == ("Bearer", 900)
    answer = await nobody.get("/api/me", headers={"Authorization": f"Bearer {pair['access_token']}"})
    assert (answer.json()["name"], answer.json()["csrf_token"]) == ("dora", None)


async def test_a_change_with_an_access_token_needs_no_csrf_token(
    nobody: httpx.AsyncClient, pair: dict[str, Any]
) -> None:
    headers = {"Authorization": f"Bearer {pair['access_token']}"}

    made = await nobody.post("/api/api-keys", json={"name": "script", "scopes": ["read"]}, headers=headers)

    assert made.status_code == 201


@pytest.mark.usefixtures("dora")
async def test_a_wrong_password_gives_no_token(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.post("/api/auth/token", json=DORA | {"password": "wrong"})

    assert (answer.status_code, answer.json()["detail"]) == (401, "Name or password is wrong.")


async def test_a_refresh_token_gives_the_next_pair(nobody: httpx.AsyncClient, pair: dict[str, Any]) -> None:
    following = (await renew(nobody, pair)).json()

    assert following["refresh_token"] != pair["refresh_token"]
    assert await status(nobody, following["access_token"]) == 200
    assert (await renew(nobody, following)).status_code == 200


@pytest.mark.parametrize("generations", [1, 3])
async def test_a_refresh_token_used_twice_ends_the_session_however_old_it_is(
    nobody: httpx.AsyncClient, pair: dict[str, Any], generations: int
) -> None:
    latest = pair
    for _ in range(generations):
        latest = (await renew(nobody, latest)).json()

    again = await renew(nobody, pair)

    assert (again.status_code, again.json()["code"]) == (401, "bad_refresh_token")
    assert await status(nobody, latest["access_token"]) == 401
    assert (await renew(nobody, latest)).status_code == 401


async def test_a_revoked_session_ends_its_access_tokens_at_once(
    nobody: httpx.AsyncClient, pair: dict[str, Any]
) -> None:
    assert await status(nobody, pair["access_token"]) == 200

    revoked = await nobody.post("/api/auth/revoke", json={"refresh_token": pair["refresh_token"]})

    assert (revoked.status_code, await status(nobody, pair["access_token"])) == (204, 401)
    assert (await renew(nobody, pair)).status_code == 401
    assert (await nobody.post("/api/auth/revoke", json={"refresh_token": "nonsense"})).status_code == 204


async def test_the_session_is_listed_and_ended_like_any_other(nobody: httpx.AsyncClient, pair: dict[str, Any]) -> None:
    headers = {"Authorization": f"Bearer {pair['access_token']}"}
    [session] = (await nobody.get("/api/sessions", headers=headers)).json()["items"]
    assert (session["kind"], session["is_current"]) == ("jwt", True)

    await nobody.delete("/api/sessions/current", headers=headers)

    assert await status(nobody, pair["access_token"]) == 401


async def test_a_disabled_user_loses_access_at_once(
    site: Site, nobody: httpx.AsyncClient, dora: User, pair: dict[str, Any]
) -> None:
    await update_user(site.app.db, dora, replace(dora, status=DISABLED), Actor(), datetime.now(UTC))

    assert await status(nobody, pair["access_token"]) == 401
    assert (await renew(nobody, pair)).status_code == 401


async def test_access_and_refresh_tokens_are_not_interchangeable(
    nobody: httpx.AsyncClient, pair: dict[str, Any]
) -> None:
    assert await status(nobody, pair["refresh_token"]) == 401
    assert (await renew(nobody, {"refresh_token": pair["access_token"]})).status_code == 401
    assert await status(nobody, pair["access_token"]) == 200


async def test_a_forged_or_expired_token_is_refused(
    site: Site, nobody: httpx.AsyncClient, pair: dict[str, Any]
) -> None:
    key = signing_key(site.app.settings)
    claims = jwt.decode(pair["access_token"], options={"verify_signature": False})
    over = claims | {"exp": datetime.now(UTC) - timedelta(seconds=1)}
    forged = [
        jwt.encode(claims, "another key of thirty-two characters", "HS256"),
        jwt.encode(claims, None, "none"),  # type: ignore[arg-type]
        jwt.encode(claims, key * 2, "HS512"),
        jwt.encode(over, key, "HS256"),
        jwt.encode({name: value for name, value in claims.items() if name != "exp"}, key, "HS256"),
        jwt.encode(claims | {"sid": 999}, key, "HS256"),
        pair["access_token"][:-2],
        pair["access_token"] + "x" * 2000,
    ]

    assert [await status(nobody, token) for token in forged] == [401] * len(forged)
    assert await status(nobody, jwt.encode(claims, key, "HS256")) == 200
