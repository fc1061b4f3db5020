"""Signing in as reader apps do it."""

from collections.abc import AsyncIterator

import pytest

from feedmill.library.users.app_passwords import revoke_app_password
from feedmill.model.user import Caller
from tests.library.small_library import NOW
from tests.serve.app_client import API, AppUser, GreaderApp, sign_in
from tests.serve.rest.site import Site

LOGIN = "/accounts/ClientLogin"


@pytest.mark.parametrize("prefix", ["", "/api/greader.php"])
async def test_an_app_signs_in_and_gets_a_token_without_odd_characters(alice: AppUser, prefix: str) -> None:
    app = await sign_in(alice, prefix)

    token = await app.get("/token")
    info = (await app.get("/user-info?output=json")).json()

    assert len(app.token) <= 64
    assert not set("= \n").intersection(app.token)
    assert (token.status_code, token.text) == (200, app.token)
    assert info == {"userId": str(alice.user.id), "userName": "alice", "userProfileId": info["userId"], "userEmail": ""}


async def test_multipart_json_and_the_query_work_too(alice: AppUser) -> None:
    sent = {"Email": "Alice", "Passwd": alice.password}

    multipart = await alice.client.post(LOGIN, files={name: (None, value) for name, value in sent.items()})
    as_json = await alice.client.post(LOGIN, data=sent | {"output": "json"})
    by_query = await alice.client.get(LOGIN, params=sent)

    tokens = {multipart.text.split("Auth=")[1].strip(), as_json.json()["Auth"], by_query.text.split("Auth=")[1].strip()}
    assert len(tokens) == 1


async def test_a_wrong_password_and_a_forged_token_are_refused(alice: AppUser, app: GreaderApp) -> None:
    wrong = await alice.client.post(LOGIN, data={"Email": "alice", "Passwd": "wrong"})
    forged = [app.token[:-1] + "x", "1/", "", "/", f"{10**14}/abc", app.token.replace("/", "="), "ü/ü"]

    answers = [
        await alice.client.get(f"{API}/user-info", headers={"Authorization": f"GoogleLogin auth={each}".encode()})
        for each in forged
    ]

    assert (wrong.status_code, answers[0].headers["X-Reader-Google-Bad-Token"]) == (401, "true")
    assert {answer.status_code for answer in answers} == {401}
    assert (await alice.client.get(f"{API}/user-info")).status_code == 401


async def test_a_revoked_password_ends_the_token(site: Site, alice: AppUser, app: GreaderApp) -> None:
    assert (await app.get("/user-info")).status_code == 200

    await revoke_app_password(site.app.db, Caller(alice.user, alice.user.scopes), alice.app_password.id, NOW)

    assert (await app.get("/user-info")).status_code == 401


async def test_an_unknown_path_is_404_as_text(app: GreaderApp) -> None:
    answer = await app.get("/friend/everything")

    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")


@pytest.mark.parametrize("path", [LOGIN, f"{API}/edit-tag", f"{API}/stream/items/ids", "/fever/"])
async def test_little_is_read_of_a_client_that_is_not_signed_in(alice: AppUser, path: str) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 100_000
            yield b"a" * 100_000

    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answers = [
        await alice.client.post(path, content=endless(), headers=form),
        await alice.client.post(path, content=b"a&" * 100_000, headers=form),
    ]

    assert sent < 1_500_000
    assert all(answer.status_code >= 400 or answer.json() == {"api_version": 3, "auth": 0} for answer in answers)


async def test_a_forged_token_is_refused_before_the_form_is_read(alice: AppUser) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(100):
            sent += 100_000
            yield b"i=1&" * 25_000

    headers = {"Content-Type": "application/x-www-form-urlencoded", "Authorization": "GoogleLogin auth=1/forged"}
    answer = await alice.client.post(f"{API}/edit-tag", content=endless(), headers=headers)

    assert (answer.status_code, sent) == (401, 0)


async def test_more_fields_than_any_app_sends_are_refused(app: GreaderApp) -> None:
    answer = await app.post("/edit-tag", "i=1&" * 30_000 + "a=user/-/state/com.google/read")

    assert answer.status_code == 400
