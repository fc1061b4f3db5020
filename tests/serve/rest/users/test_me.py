"""`/api/me`."""

from datetime import UTC, datetime

import httpx

from feedmill.library.users.manage_users import set_password
from feedmill.model.user import READ, Actor
from feedmill.store.users.api_keys import add_api_key
from tests.serve.rest.site import Person, Site


async def test_a_key_reports_its_user(alice: Person, bob: Person) -> None:
    assert (await alice.get("/me")).json()["name"] == "alice"
    assert (await bob.get("/me")).json()["name"] == "bob"


async def test_a_key_is_required(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.get("/api/me")

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_signed_in"


async def test_a_missing_scope_is_reported(site: Site) -> None:
    dora = await site.person("dora", scopes=("pools",))

    answer = await dora.get("/me")

    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
    assert READ in answer.json()["detail"]


async def test_a_new_password_reports_what_has_ended_and_what_stays(site: Site, bob: Person) -> None:
    now = datetime.now(UTC)
    await set_password(site.app.db, bob.user, "old password", None, now, Actor())
    await add_api_key(site.app.db, bob.user.id, "another", "fm_another", ["read"], now)
    browser = await site.browser()
    await browser.post("/api/sessions", json={"name": "bob", "password": "old password"})

    kept = await bob.put("/me/password", {"current": "old password", "new": "new password"})
    again = {"current": "new password", "new": "newer password", "revoke_keys": True}
    revoked = await bob.put("/me/password", again)

    assert kept.json() == {"sessions_ended": 1, "keys_revoked": 0, "keys_left": 2}
    assert revoked.json() == {"sessions_ended": 0, "keys_revoked": 2, "keys_left": 0}
    assert (await bob.get("/me")).status_code == 401


async def test_signing_out_everywhere_can_revoke_keys(bob: Person) -> None:
    kept = await bob.delete("/sessions")
    revoked = await bob.delete("/sessions?revoke_keys=true")

    assert kept.json() == {"sessions_ended": 0, "keys_revoked": 0, "keys_left": 1}
    assert revoked.json() == {"sessions_ended": 0, "keys_revoked": 1, "keys_left": 0}
    assert (await bob.get("/me")).status_code == 401
