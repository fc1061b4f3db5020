"""Every route of the APIs of reader apps: Charlie sees and changes nothing of Alice's, others are not let in."""

from typing import Any

import pytest

from feedmill.library.users.app_passwords import fever_key
from feedmill.serve import fever, greader, miniflux
from feedmill.serve.fever.sections import SECTIONS
from tests.serve.app_client import AppUser, app_user, sign_in
from tests.serve.app_requests import (
    MARK,
    AppRequest,
    Belongings,
    greader_requests,
    miniflux_bodies,
    miniflux_requests,
    prepare_belongings,
)
from tests.serve.rest.site import Site

# What Alice's app is refused too: an app password has no rights over accounts and shared texts.
REFUSED = {
    ("POST", "/users"): 403,
    ("PUT", "/users/{user}"): 403,
    ("DELETE", "/users/{user}"): 403,
    ("GET", "/api-keys"): 403,
    ("POST", "/api-keys"): 403,
    ("DELETE", "/api-keys/{key}"): 403,
    ("PUT", miniflux.ENTRY): 403,
    ("POST", f"{miniflux.FEED}/entries/import"): 403,
    ("POST", f"{miniflux.ENTRY}/save"): 400,
}


@pytest.fixture
async def hers(site: Site, alice: AppUser) -> Belongings:
    return await prepare_belongings(site, alice)


@pytest.fixture
async def charlie(site: Site) -> AppUser:
    return await app_user(site, "charlie", allows_fever=True)


async def everything(user: AppUser) -> list[Any]:
    """All that the user has, as the Miniflux API tells it."""
    paths = ("/feeds", "/categories?counts=true", "/entries?limit=0", "/entries?starred=true")
    answers = [await user.client.get(f"/v1{path}", headers={"X-Auth-Token": user.password}) for path in paths]
    return [answer.json() for answer in answers]


async def test_charlie_gets_and_changes_nothing_of_alices_by_any_route_of_miniflux(
    hers: Belongings, charlie: AppUser
) -> None:
    before = await everything(hers.alice)
    broken = []
    for (method, route), request in miniflux_requests(hers).items():
        answer = await request.send(charlie, {"X-Auth-Token": charlie.password})
        is_refused = answer.status_code in {403, 404} if "{" in route else answer.status_code < 500
        if not is_refused or MARK in answer.text:
            broken.append((method, route, answer.status_code, answer.text))

    assert broken == []
    assert await everything(hers.alice) == before


async def test_the_same_requests_work_for_alice_by_miniflux(hers: Belongings) -> None:
    key = {"X-Auth-Token": hers.alice.password}
    statuses = {
        route: (await each.send(hers.alice, key)).status_code for route, each in miniflux_requests(hers).items()
    }

    assert {route: status for route, status in statuses.items() if status >= 300} == REFUSED


async def test_every_route_of_miniflux_that_reads_a_body_has_one_in_these_tests(hers: Belongings) -> None:
    routes = {(method, route) for route, handlers in miniflux.HANDLERS.items() for method in handlers}
    bodies = miniflux_bodies(hers)

    assert {(method, route) for method, route in routes if method in {"POST", "PUT"}} == bodies.keys() & routes


async def test_charlie_gets_and_changes_nothing_of_alices_by_any_route_of_google_reader(
    hers: Belongings, charlie: AppUser
) -> None:
    before = await everything(hers.alice)
    app = await sign_in(charlie)
    broken = []
    for route, request in greader_requests(hers).items():
        answer = await request.send(charlie, app.headers)
        if answer.status_code >= 500 or MARK in answer.text or answer.text == "true":
            broken.append((route, answer.status_code, answer.text))

    assert broken == []
    assert await everything(hers.alice) == before


async def test_the_same_requests_work_for_alice_by_google_reader(hers: Belongings) -> None:
    answers = {
        route: await request.send(hers.alice, hers.app.headers) for route, request in greader_requests(hers).items()
    }

    assert {route: answer.text for route, answer in answers.items() if answer.status_code != 200} == {}
    assert f"{MARK} folder renamed" not in (await hers.app.get("/tag/list")).text


async def test_every_route_of_google_reader_has_a_request_in_these_tests(hers: Belongings) -> None:
    by_prefix = [
        {route.path.removeprefix(prefix) for route in greader.routes if route.path.startswith(f"{prefix}/")}
        for prefix in greader.PREFIXES
    ]
    others = {"/accounts/ClientLogin", "/reader/{path:path}"}

    assert by_prefix[1] == greader_requests(hers).keys() | others
    assert by_prefix[0] == by_prefix[1] | {greader.FRESHRSS + path for path in by_prefix[1]}


async def test_charlie_gets_and_changes_nothing_of_alices_by_fever(hers: Belongings, charlie: AppUser) -> None:
    before = await everything(hers.alice)
    named = f"with_ids={hers.entry_id}", f"feed_ids={hers.feed_id}", f"group_ids={hers.category_id}"
    queries = [*SECTIONS, *(f"items&{each}" for each in named)]
    for kind, id in (("item", hers.entry_id), ("feed", hers.feed_id), ("group", hers.category_id), ("group", 0)):
        queries += [f"mark={kind}&as={state}&id={id}" for state in ("read", "unread", "saved", "unsaved")]
    key = {"api_key": fever_key("charlie", charlie.password)}
    answers = [await charlie.client.post(f"{fever.PATHS[0]}?api&{query}", data=key) for query in queries]

    assert {answer.json()["auth"] for answer in answers} == {1}
    assert [answer.text for answer in answers if MARK in answer.text] == []
    assert await everything(hers.alice) == before


async def test_nobody_without_a_password_gets_an_answer_from_any_route(hers: Belongings) -> None:
    requests: list[AppRequest] = [*miniflux_requests(hers).values(), *greader_requests(hers).values()]
    statuses = {(each.method, each.path): (await each.send(hers.alice, {})).status_code for each in requests}
    fevers = [(await hers.alice.client.post(f"{path}?api&feeds")).json() for path in fever.PATHS]

    assert {sent: status for sent, status in statuses.items() if status != 401} == {}
    assert fevers == [{"api_version": 3, "auth": 0}] * len(fever.PATHS)
