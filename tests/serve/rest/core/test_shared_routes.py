"""The routes of the API are built once per process, however many applications use them."""

from pathlib import Path

import pytest
from fastapi.routing import APIRoute

from feedmill.serve import rest
from feedmill.serve.http.csrf import SAFE_METHODS
from feedmill.serve.rest.core.unknown_parameters import query_parameters, takes_body
from tests.scripted_web import Web
from tests.serve.rest.site import Person, Site, running_site

CHANGING = [
    route
    for router in rest.ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and not route.methods <= SAFE_METHODS
]


async def test_two_applications_share_the_routes_and_nothing_else(tmp_path: Path) -> None:
    async with Web() as web, running_site(tmp_path / "a", web) as one, running_site(tmp_path / "b", web) as other:
        alice, bob = await one.person("alice"), await other.person("bob")
        stranger = await other.browser(Authorization="Bearer fm_alice")

        names = [(await person.get("/me")).json()["name"] for person in (alice, bob)]
        refused = await stranger.get("/api/me")

    assert names == ["alice", "bob"]
    assert refused.status_code == 401


async def test_a_changing_request_does_not_build_the_openapi_description(site: Site, alice: Person) -> None:
    rest.description.cache_clear()

    answer = await alice.post("/folders", {"name": "News"})

    assert answer.is_success
    assert rest.description.cache_info().currsize == 0


@pytest.mark.parametrize("route", CHANGING, ids=lambda route: f"{min(route.methods)} {route.path_format}")
def test_a_changing_route_reads_the_parameters_and_the_body_that_openapi_names(route: APIRoute) -> None:
    for method in route.methods:
        operation = rest.description()["paths"][route.path_format][method.lower()]
        described = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}

        assert query_parameters(route) == described
        assert takes_body(route) == ("requestBody" in operation)
