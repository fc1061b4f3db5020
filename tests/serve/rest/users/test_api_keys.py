"""API keys: shown once, never with more rights than their creator, revocable."""

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

import pytest

from feedmill.errors import NotSignedIn
from feedmill.library.users.api_keys import create_api_key
from feedmill.library.users.find_caller import caller_of_api_key
from feedmill.library.users.manage_users import make_user, set_password
from feedmill.library.users.sign_in import begin_session
from feedmill.model.timestamps import to_iso
from feedmill.model.user import SESSION_LIFETIME, Actor, Caller, RequestOrigin, User
from feedmill.store.admin.users import update_user
from feedmill.store.database import Database, Step
from feedmill.store.schema import api_keys
from feedmill.store.users import sessions
from feedmill.store.users.api_keys import USED_EVERY, add_api_key, api_keys_of, revoke_api_key_of_user
from tests.flows.refresh_environment import NOW
from tests.serve.rest.site import Person, Site

READER = {"name": "script", "scopes": ["read"]}


async def use(site: Site, key: str, path: str = "/api/me") -> int:
    browser = await site.browser(Authorization=f"Bearer {key}")
    return (await browser.get(path)).status_code


async def test_a_key_is_shown_once_and_kept_as_a_digest(site: Site, bob: Person) -> None:
    made = (await bob.post("/api-keys", READER)).json()

    assert made["key"].startswith("fm_")
    assert await use(site, made["key"]) == 200
    assert made["key"] not in (await bob.get("/api-keys")).text
    assert made["key"] not in str(await site.app.db.query(api_keys.select()))


async def test_a_key_is_limited_to_its_scopes(site: Site, bob: Person) -> None:
    made = (await bob.post("/api-keys", READER)).json()
    script = await site.browser(Authorization=f"Bearer {made['key']}")

    assert (await script.get("/api/api-keys")).status_code == 200
    refused = await script.post("/api/api-keys", json=READER)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


async def test_a_user_cannot_create_a_key_with_more_rights_than_their_own(site: Site, bob: Person) -> None:
    writer = await site.person("writer", scopes=("read", "write"))

    assert (await writer.post("/api-keys", {"name": "x", "scopes": ["read", "pools"]})).status_code == 403
    assert (await bob.post("/api-keys", {"name": "x", "scopes": ["admin"]})).status_code == 403
    assert (await bob.post("/api-keys", {"name": "x", "scopes": ["pools"]})).status_code == 201


async def test_an_admin_key_loses_its_rights_when_its_owner_does(site: Site, alice: Person) -> None:
    zoe = await site.person("zoe", is_admin=True)
    assert (await alice.get("/admin/users")).status_code == 200

    await update_user(site.app.db, alice.user, replace(alice.user, is_admin=False), Actor(), NOW)

    assert (await alice.get("/admin/users")).status_code == 403
    assert (await alice.get("/me")).json()["scopes"] == ["fill", "pools", "read", "write"]
    assert (await zoe.get("/admin/users")).status_code == 200


async def test_a_revoked_key_is_refused(site: Site, bob: Person) -> None:
    made = (await bob.post("/api-keys", READER)).json()

    await bob.delete(f"/api-keys/{made['id']}")

    assert await use(site, made["key"]) == 401
    assert (await bob.delete(f"/api-keys/{made['id']}")).status_code == 404


@pytest.mark.parametrize(
    "bad",
    [
        {"name": ""},
        {"name": "a\u0000"},
        {"name": "x" * 191},
        {"scopes": []},
        {"scopes": ["root"]},
        {"expires_at": "2020-01-01T00:00:00Z"},
        {"expires_at": "9999-12-31T23:59:59-05:00"},
        {"expires_at": "2030-01-01T00:00:00"},
        {"expires_at": "0001-01-01T00:00:00+05:00"},
    ],
)
async def test_an_invalid_key_request_is_refused(bob: Person, bad: dict[str, Any]) -> None:
    assert (await bob.post("/api-keys", READER | bad)).status_code == 422


async def test_a_key_expires(any_db: Database) -> None:
    user = await make_user(any_db, "bob", "long enough", False, NOW, Actor())
    await add_api_key(any_db, user.id, "x", "fm_x", ["read"], NOW, NOW + timedelta(hours=1))

    assert await caller_of_api_key(any_db, "fm_x", NOW + timedelta(minutes=59)) is not None
    assert await caller_of_api_key(any_db, "fm_x", NOW + timedelta(hours=1)) is None
    assert await api_keys_of(any_db, user.id, NOW + timedelta(hours=1)) == []


async def test_the_last_use_of_a_key_is_recorded_once_a_minute(any_db: Database) -> None:
    user = await make_user(any_db, "bob", "long enough", False, NOW, Actor())
    made = await add_api_key(any_db, user.id, "x", "fm_x", ["read"], NOW)
    seen = []

    for at in (NOW, NOW + USED_EVERY, NOW + USED_EVERY + timedelta(seconds=1)):
        await caller_of_api_key(any_db, "fm_x", at)
        [token] = await api_keys_of(any_db, user.id, NOW)
        seen.append(token.last_used_at)

    assert (made.last_used_at, seen) == (None, [NOW, NOW, NOW + USED_EVERY + timedelta(seconds=1)])
    assert not await revoke_api_key_of_user(any_db, user.id + 1, made.id, NOW)
    assert await revoke_api_key_of_user(any_db, user.id, made.id, NOW)


async def test_the_number_of_keys_of_a_user_is_limited(site: Site, bob: Person) -> None:
    now = datetime.now(UTC)
    for number in range(199):
        await add_api_key(site.app.db, bob.user.id, "x", f"fm_{number}", ["read"], now)

    assert (await bob.post("/api-keys", READER)).status_code == 429


# --- keys created with keys -------------------------------------------------------------------------------

MAKER = ["read", "write"]


async def with_key(site: Site, bob: Person, scopes: list[str], expires_at: datetime | None = None) -> Person:
    """Bob's client, which uses another key."""
    await add_api_key(site.app.db, bob.user.id, "maker", "fm_maker", scopes, datetime.now(UTC), expires_at)
    return Person(bob.user, await site.browser(Authorization="Bearer fm_maker"))


async def test_a_key_that_expires_cannot_create_one_that_outlives_it(site: Site, bob: Person) -> None:
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=60)
    program = await with_key(site, bob, MAKER, end)

    made = await program.post("/api-keys", READER)
    sooner = await program.post("/api-keys", READER | {"expires_at": (end - timedelta(seconds=1)).isoformat()})
    later = await program.post("/api-keys", READER | {"expires_at": (end + timedelta(seconds=1)).isoformat()})

    assert datetime.fromisoformat(made.json()["expires_at"]) == end
    assert datetime.fromisoformat(sooner.json()["expires_at"]) == end - timedelta(seconds=1)
    assert (later.status_code, later.json()["errors"][0]["field"]) == (422, "expires_at")
    assert await caller_of_api_key(site.app.db, made.json()["key"], end - timedelta(seconds=1)) is not None
    assert await caller_of_api_key(site.app.db, made.json()["key"], end) is None


async def test_a_key_cannot_create_one_with_more_rights(site: Site, bob: Person) -> None:
    program = await with_key(site, bob, ["write"])

    assert (await program.post("/api-keys", {"name": "x", "scopes": ["read"]})).status_code == 403
    assert (await program.post("/api-keys", {"name": "x", "scopes": ["write"]})).status_code == 201


async def test_a_key_that_was_created_with_a_key_cannot_create_further_ones(site: Site, bob: Person) -> None:
    program = await with_key(site, bob, MAKER)
    made = (await program.post("/api-keys", {"name": "x", "scopes": MAKER})).json()
    following = await site.browser(Authorization=f"Bearer {made['key']}")

    refused = await following.post("/api/api-keys", json=READER)

    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed")


async def test_revoking_a_key_revokes_those_created_with_it(site: Site, bob: Person) -> None:
    program = await with_key(site, bob, MAKER)
    made = (await program.post("/api-keys", READER)).json()
    other = (await bob.post("/api-keys", READER | {"name": "other"})).json()
    listed = {key["name"]: key for key in (await bob.get("/api-keys")).json()["items"]}
    assert listed["script"]["parent_key_id"] == listed["maker"]["id"]

    await bob.delete(f"/api-keys/{listed['maker']['id']}")

    assert [await use(site, key) for key in ("fm_maker", made["key"], other["key"])] == [401, 401, 200]
    assert {key["name"] for key in (await bob.get("/api-keys")).json()["items"]} == {"test", "other"}


async def a_user_with_key(db: Database) -> tuple[User, Caller]:
    """Bob, and the caller of his key that creates another."""
    user = await make_user(db, "bob", "long enough", False, NOW, Actor())
    await add_api_key(db, user.id, "maker", "fm_maker", MAKER, NOW)
    who = await caller_of_api_key(db, "fm_maker", NOW)
    assert who is not None
    return user, who


async def test_a_key_that_is_revoked_while_it_creates_another_leaves_none(any_db: Database) -> None:
    user, who = await a_user_with_key(any_db)
    assert who.api_key is not None

    answers = await asyncio.gather(
        *(create_api_key(any_db, who, f"key {number}", ["read"], None, NOW) for number in range(5)),
        revoke_api_key_of_user(any_db, user.id, who.api_key.id, NOW),
        *(create_api_key(any_db, who, f"late key {number}", ["read"], None, NOW) for number in range(5)),
        return_exceptions=True,
    )

    assert {type(answer) for answer in answers} <= {tuple, bool, NotSignedIn}
    assert await api_keys_of(any_db, user.id, NOW) == []
    for secret in [answer[0] for answer in answers if isinstance(answer, tuple)]:
        assert await caller_of_api_key(any_db, secret, NOW) is None


async def test_later_requests_of_a_revoked_key_are_refused(any_db: Database) -> None:
    user, who = await a_user_with_key(any_db)
    assert who.api_key is not None
    await revoke_api_key_of_user(any_db, user.id, who.api_key.id, NOW)

    with pytest.raises(NotSignedIn):
        await create_api_key(any_db, who, "late", ["read"], None, NOW)


async def test_a_key_is_valid_only_while_its_parent_key_is(any_db: Database) -> None:
    user, who = await a_user_with_key(any_db)
    secret, made = await create_api_key(any_db, who, "made", ["read"], None, NOW)
    assert await caller_of_api_key(any_db, secret, NOW) is not None

    # As if the revocation had not seen the other key yet.
    revoked = api_keys.update().where(api_keys.c.id == made.parent_key_id).values(revoked_at=to_iso(NOW))
    await any_db.batch([Step(revoked)])

    assert await caller_of_api_key(any_db, secret, NOW) is None
    assert await api_keys_of(any_db, user.id, NOW) == []


async def test_an_ended_session_cannot_create_a_key(any_db: Database) -> None:
    user = await make_user(any_db, "bob", "long enough", False, NOW, Actor())
    _, who = await begin_session(any_db, user, RequestOrigin(), NOW)
    await begin_session(any_db, user, RequestOrigin(), NOW)  # another one of the same user, which goes on
    assert who.session_id is not None
    await create_api_key(any_db, who, "first", ["read"], None, NOW)

    with pytest.raises(NotSignedIn):
        await create_api_key(any_db, who, "late", ["read"], None, NOW + SESSION_LIFETIME)
    await sessions.end_session(any_db, user.id, who.session_id)
    with pytest.raises(NotSignedIn):
        await create_api_key(any_db, who, "later", ["read"], None, NOW)

    assert [key.name for key in await api_keys_of(any_db, user.id, NOW)] == ["first"]


async def test_no_key_of_another_session_survives_a_password_change_that_revokes_all(any_db: Database) -> None:
    user = await make_user(any_db, "bob", "long enough", False, NOW, Actor())
    thief = (await begin_session(any_db, user, RequestOrigin(), NOW))[1]

    async def steal() -> None:
        """Creates keys until the session ends."""
        with suppress(NotSignedIn):
            while True:
                await add_api_key(any_db, user.id, "stolen", f"fm_{token_hex(8)}", ["read"], NOW, maker=thief)

    thieves = [asyncio.create_task(steal()) for _ in range(4)]
    await set_password(any_db, user, "another password", None, NOW, Actor(), revoke_keys=True)
    await asyncio.gather(*thieves)

    assert await api_keys_of(any_db, user.id, NOW) == []
