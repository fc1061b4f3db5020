"""The security headers of every page, and CSRF protection."""

import re
from dataclasses import replace

import httpx
import pytest

from feedmill.errors import DatabaseUnavailable
from feedmill.serve.http.security_headers import image_origin
from feedmill.serve.web.create_pages import create_pages
from feedmill.serve.web.routes import ROUTES
from feedmill.serve.web.sidebar.count_watcher import CountWatcher
from feedmill.settings import load_settings
from tests.serve.rest.site import ORIGIN, Site
from tests.serve.web.visitor import Visitor

PAGES = ["/unread", "/all", "/appearance", "/keys", "/login", "/nowhere", "/item/1", "/logout", "/manifest.webmanifest"]
VISITORS = ("/login", "/login/code", "/register", "/setup", "/sign-in-link/{token}")
CHANGES = sorted(
    re.sub(r"\{\w+(:\w+)?\}", "1", route.path)
    for route in ROUTES
    if "POST" in (route.methods or ()) and route.path not in VISITORS
)


async def test_every_page_runs_our_own_scripts_only(alice: Visitor) -> None:
    for path in PAGES:
        headers = (await alice.client.get(path)).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        own = {policy[name] for name in ("script-src", "style-src", "connect-src", "form-action")}
        nothing = {policy[name] for name in ("default-src", "frame-ancestors", "base-uri")}
        assert (own, nothing, policy["img-src"]) == ({"'self'"}, {"'none'"}, "'self' data:"), path
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in headers["permissions-policy"]


async def test_pages_of_a_user_are_not_cached(alice: Visitor) -> None:
    assert (await alice.client.get("/unread")).headers["cache-control"] == "no-store"


async def test_a_page_and_its_forms_have_the_csrf_token(alice: Visitor) -> None:
    page = await alice.see("/settings")

    assert page.xpath("//meta[@name='csrf']/@content") == [alice.csrf()]
    assert set(page.xpath("//form//input[@name='csrf']/@value")) == {alice.csrf()}


async def test_a_change_without_the_csrf_token_is_refused(alice: Visitor) -> None:
    for path in CHANGES:
        for csrf in ({}, {"csrf": "0" * 64}):
            assert (await alice.client.post(path, data=csrf)).status_code == 403, path


@pytest.mark.usefixtures("alice")
async def test_a_change_needs_a_sign_in(nobody: httpx.AsyncClient) -> None:
    for path in CHANGES:
        answer = await nobody.post(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=/"), path


async def test_images_of_other_sites_are_allowed_only_when_the_reader_chose_so(alice: Visitor) -> None:
    async def pictures_of(path: str) -> str:
        policy = (await alice.client.get(path)).headers["content-security-policy"]
        return policy.partition("img-src ")[2].partition(";")[0]

    assert await pictures_of("/item/1?originals=yes") == "'self' data: https: http:"
    assert await pictures_of("/item/1") == "'self' data:"

    await alice.send("/appearance", originals="yes")
    assert await pictures_of("/unread") == "'self' data: https: http:"


@pytest.mark.parametrize(
    ("objects", "origin"),
    [
        ("", ""),
        ("s3://pictures?endpoint=https://s3.example:9000&direct=no", ""),
        ("s3://pictures?endpoint=https://s3.example:9000", "https://s3.example:9000"),
        ("s3://pictures?public_url=https://cdn.example/pictures", "https://cdn.example"),
    ],
)
def test_the_public_object_store_is_allowed(objects: str, origin: str) -> None:
    assert image_origin(load_settings(objects=objects, s3_access_key="a", s3_secret_key="b")) == origin


def test_the_public_address_of_images_is_allowed_instead_of_the_object_store() -> None:
    objects = "s3://pictures?endpoint=https://s3.example:9000"
    settings = load_settings(
        objects=objects, s3_access_key="a", s3_secret_key="b", images_base_url="https://cdn.example/pictures/"
    )

    assert image_origin(settings) == "https://cdn.example"


async def test_a_missing_page_has_a_helpful_message(site: Site, nobody: httpx.AsyncClient) -> None:
    answer = await nobody.get("/nowhere")

    assert answer.status_code == 404
    assert "There is no such page, or you have no access to it." in answer.text


class Dead:
    """A database that does not respond."""

    async def query(self, *_: object) -> None:
        raise DatabaseUnavailable("no answer")


async def test_a_database_outage_is_reported_as_a_page_and_as_a_fragment(site: Site, alice: Visitor) -> None:
    app = replace(site.app, db=Dead())  # type: ignore[arg-type]
    pages = create_pages(app, site.parts.batches, CountWatcher(app.db))
    transport = httpx.ASGITransport(pages)
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=alice.client.cookies) as client:
        page = await client.get("/unread")
        part = await client.get("/unread?cursor=x", headers={"HX-Request": "true"})

    assert (page.status_code, page.headers["retry-after"]) == (503, "5")
    assert "Nothing is lost; try again in a moment." in page.text
    assert (part.status_code, "<html" in part.text) == (503, False)
    assert 'hx-get="/unread?cursor=x"' in part.text


class Broken:
    """A database that raises an unexpected error."""

    async def query(self, *_: object) -> None:
        raise ZeroDivisionError


async def test_an_unexpected_error_has_the_same_headers(site: Site, alice: Visitor) -> None:
    app = replace(site.app, db=Broken())  # type: ignore[arg-type]
    pages = create_pages(app, site.parts.batches, CountWatcher(app.db))
    transport = httpx.ASGITransport(pages, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=ORIGIN, cookies=alice.client.cookies) as client:
        page = await client.get("/unread")

    assert page.status_code == 500
    assert "Something went wrong" in page.text
    assert "ZeroDivisionError" not in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
