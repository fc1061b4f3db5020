"""Every route of the API: Alice gets her data, Charlie gets none of it, and a caller without a key gets a 401."""

from importlib import import_module
from pkgutil import iter_modules

import httpx
import pytest
from fastapi.routing import APIRoute

from feedmill.serve.rest import PUBLIC_ROUTES, ROUTERS
from tests.serve.rest import cases
from tests.serve.rest.cases import Case, CaseRequest
from tests.serve.rest.site import Person, Site


def _all_cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for module in iter_modules(cases.__path__):
        found |= import_module(f"{cases.__name__}.{module.name}").CASES
    return found


def _all_routes() -> set[str]:
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    return {f"{method} {route.path_format}" for route in routes for method in route.methods}


CASES = _all_cases()


def test_every_route_has_a_case() -> None:
    assert _all_routes() - PUBLIC_ROUTES == set(CASES)


@pytest.mark.parametrize("route", sorted(CASES))
async def test_data_of_alice_is_for_alice_only(
    site: Site, alice: Person, charlie: Person, nobody: httpx.AsyncClient, route: str
) -> None:
    method, case = route.split()[0], CASES[route]
    asked = await case.prepare(site, alice)

    anonymous = await _send(nobody, method, asked)
    others = await _send(charlie.client, method, asked)
    hers = await _send(alice.client, method, asked)

    assert anonymous.status_code == 401, anonymous.text
    assert others.status_code == case.others, others.text
    assert asked.secret is None or asked.secret not in others.text
    assert hers.is_success, hers.text
    assert asked.secret is None or asked.secret in hers.text


async def _send(client: httpx.AsyncClient, method: str, asked: CaseRequest) -> httpx.Response:
    body = {"content": asked.content} if asked.content is not None else {"json": asked.json}
    return await client.request(method, f"/api{asked.path}", headers=dict(asked.headers), **body)
