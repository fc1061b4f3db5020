"""`/api/me`."""

import httpx

from feedmill.model.account import READ
from tests.serve.rest.site import Person, Site


async def test_a_key_says_whose_it_is(alice: Person, bob: Person) -> None:
    assert (await alice.get("/me")).json()["name"] == "alice"
    assert (await bob.get("/me")).json()["name"] == "bob"


async def test_without_a_key_there_is_nothing_to_see(nobody: httpx.AsyncClient) -> None:
    answer = await nobody.get("/api/me")

    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "not_signed_in"


async def test_a_key_without_the_scope_is_told_so(site: Site) -> None:
    dora = await site.person("dora", scopes=("pools",))

    answer = await dora.get("/me")

    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
    assert READ in answer.json()["detail"]
