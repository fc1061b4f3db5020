"""Responses of the API to one user are not cached for another."""

from fastapi.routing import APIRoute

from feedmill.serve.rest import PUBLIC_ROUTES, ROUTERS
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor

PATHS = sorted(
    route.path_format
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and "GET" in (route.methods or ()) and "{" not in route.path_format
)


async def test_no_response_of_the_api_is_cached(site: Site, alice: Visitor) -> None:
    asked = [path for path in PATHS if f"GET {path}" not in PUBLIC_ROUTES]
    answers = {path: await alice.client.get(f"/api{path}", params={"q": "mill"}) for path in asked}

    said = {path: answer.headers.get("cache-control", "") for path, answer in answers.items() if answer.is_success}
    assert len(said) > 15
    assert {path for path, header in said.items() if "no-store" not in header and "private" not in header} == set()
