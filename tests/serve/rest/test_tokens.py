"""Keys for programs: shown once, no more powerful than who makes them, revocable."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from feedmill.library.accounts import add_account
from feedmill.model.account import Actor
from feedmill.store.administration import change_account
from feedmill.store.database import Database
from feedmill.store.schema import tokens
from feedmill.store.tokens import USED_EVERY, add_token, holder_of_token, revoke_token, tokens_of
from tests.flows.world import NOW
from tests.serve.rest.site import Person, Site

READER = {"name": "script", "scopes": ["read"]}


async def use(site: Site, key: str, path: str = "/api/me") -> int:
    browser = await site.browser(Authorization=f"Bearer {key}")
    return (await browser.get(path)).status_code


async def test_a_key_is_shown_once_and_kept_as_a_digest(site: Site, bob: Person) -> None:
    made = (await bob.post("/tokens", READER)).json()

    assert made["key"].startswith("fm_")
    assert await use(site, made["key"]) == 200
    assert made["key"] not in (await bob.get("/tokens")).text
    assert made["key"] not in str(await site.app.db.query(tokens.select()))


async def test_a_key_does_what_it_is_for_and_no_more(site: Site, bob: Person) -> None:
    made = (await bob.post("/tokens", READER)).json()
    script = await site.browser(Authorization=f"Bearer {made['key']}")

    assert (await script.get("/api/tokens")).status_code == 200
    refused = await script.post("/api/tokens", json=READER)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


async def test_nobody_gives_away_more_than_they_have(site: Site, bob: Person) -> None:
    writer = await site.person("writer", scopes=("read", "write"))

    assert (await writer.post("/tokens", {"name": "x", "scopes": ["read", "pools"]})).status_code == 403
    assert (await bob.post("/tokens", {"name": "x", "scopes": ["admin"]})).status_code == 403
    assert (await bob.post("/tokens", {"name": "x", "scopes": ["pools"]})).status_code == 201


async def test_a_key_of_an_admin_loses_that_power_with_its_maker(site: Site, alice: Person) -> None:
    zoe = await site.person("zoe", is_admin=True)
    assert (await alice.get("/admin/users")).status_code == 200

    await change_account(site.app.db, alice.user, replace(alice.user, is_admin=False), Actor(), NOW)

    assert (await alice.get("/admin/users")).status_code == 403
    assert (await alice.get("/me")).json()["scopes"] == ["pools", "read", "write"]
    assert (await zoe.get("/admin/users")).status_code == 200


async def test_a_revoked_key_opens_nothing(site: Site, bob: Person) -> None:
    made = (await bob.post("/tokens", READER)).json()

    await bob.delete(f"/tokens/{made['id']}")

    assert await use(site, made["key"]) == 401
    assert (await bob.delete(f"/tokens/{made['id']}")).status_code == 404


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""}, {"name": "a\u0000"}, {"name": "x" * 191}, {"scopes": []}, {"scopes": ["root"]},
        {"expires_at": "2020-01-01T00:00:00Z"}, {"expires_at": "9999-12-31T23:59:59-05:00"},
        {"expires_at": "2030-01-01T00:00:00"}, {"expires_at": "0001-01-01T00:00:00+05:00"},
    ],
)  # fmt: skip
async def test_what_makes_no_key_is_refused(bob: Person, bad: dict[str, Any]) -> None:
    assert (await bob.post("/tokens", READER | bad)).status_code == 422


async def test_a_key_ends_when_it_was_to_end(any_db: Database) -> None:
    user = await add_account(any_db, "bob", "long enough", False, NOW, Actor())
    await add_token(any_db, user.id, "x", "fm_x", ["read"], NOW, NOW + timedelta(hours=1))

    assert await holder_of_token(any_db, "fm_x", NOW + timedelta(minutes=59)) is not None
    assert await holder_of_token(any_db, "fm_x", NOW + timedelta(hours=1)) is None
    assert await tokens_of(any_db, user.id, NOW + timedelta(hours=1)) == []


async def test_that_a_key_is_used_is_written_down_once_a_minute(any_db: Database) -> None:
    user = await add_account(any_db, "bob", "long enough", False, NOW, Actor())
    made = await add_token(any_db, user.id, "x", "fm_x", ["read"], NOW)
    seen = []

    for at in (NOW, NOW + USED_EVERY, NOW + USED_EVERY + timedelta(seconds=1)):
        await holder_of_token(any_db, "fm_x", at)
        [token] = await tokens_of(any_db, user.id, NOW)
        seen.append(token.last_used_at)

    assert (made.last_used_at, seen) == (None, [NOW, NOW, NOW + USED_EVERY + timedelta(seconds=1)])
    assert not await revoke_token(any_db, user.id + 1, made.id, NOW)
    assert await revoke_token(any_db, user.id, made.id, NOW)


async def test_a_person_has_not_keys_without_end(site: Site, bob: Person) -> None:
    now = datetime.now(UTC)
    for number in range(199):
        await add_token(site.app.db, bob.user.id, "x", f"fm_{number}", ["read"], now)

    assert (await bob.post("/tokens", READER)).status_code == 429
