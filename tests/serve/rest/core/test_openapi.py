"""The OpenAPI description: as JSON and as a page."""

import httpx

from feedmill.serve.rest import ROUTERS


async def test_the_description_names_every_route_and_how_to_sign_in(nobody: httpx.AsyncClient) -> None:
    description = (await nobody.get("/api/openapi.json")).json()

    routes = {route.path_format for router in ROUTERS for route in router.routes}  # type: ignore[attr-defined]
    assert set(description["paths"]) == routes
    assert set(description["components"]["securitySchemes"]) == {"key", "session"}
    assert description["servers"] == [{"url": "/api"}]


async def test_every_error_is_described_as_a_problem(nobody: httpx.AsyncClient) -> None:
    description = (await nobody.get("/api/openapi.json")).json()

    for methods in description["paths"].values():
        for operation in methods.values():
            for status, answer in operation["responses"].items():
                assert int(status) < 400 or list(answer["content"]) == ["application/problem+json"], operation


async def test_the_page_shows_every_route_and_loads_nothing_from_other_sites(nobody: httpx.AsyncClient) -> None:
    page = await nobody.get("/api/docs")

    assert page.status_code == 200
    for router in ROUTERS:
        for route in router.routes:
            assert f"<code>{route.path_format}</code>" in page.text  # type: ignore[attr-defined]
    assert "http://" not in page.text
    assert "https://" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
