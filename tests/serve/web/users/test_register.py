"""Visitors can register only where the operator allows it."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from feedmill.library.users.manage_users import create_first_admin
from tests.browser.sample_feeds import PASSWORD
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.serve.web.visitor import Visitor

DORA = {"name": "Dora", "password": PASSWORD, "again": PASSWORD}


@pytest.fixture
async def open_site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web, registration=True) as site:
        await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))
        yield site


async def test_a_visitor_registers_and_is_signed_in_without_admin_rights(open_site: Site) -> None:
    visitor = await open_site.browser()
    assert 'href="/register"' in (await visitor.get("/login")).text
    assert (await visitor.get("/register")).status_code == 200

    made = await visitor.post("/register", data=DORA)

    assert (made.status_code, made.headers["location"]) == (303, "/subscribe")
    assert (await visitor.get("/unread")).status_code == 200
    assert (await visitor.get("/admin")).status_code == 403
    assert (await Visitor.signed_in(open_site, "dora")).name == "dora"


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"name": "alice"}, 409, "This name is taken"),
        ({"name": "no good"}, 422, "A name has 1 to 64"),
        ({"password": "short", "again": "short"}, 422, "8 to 1000"),
        ({"again": "another one"}, 422, "not the same"),
    ],
)
async def test_an_invalid_account_is_reported_next_to_the_field(
    open_site: Site, change: dict[str, str], status: int, said: str
) -> None:
    answer = await (await open_site.browser()).post("/register", data=DORA | change)

    assert (answer.status_code, said in answer.text) == (status, True)


async def test_with_registration_off_there_is_neither_a_link_nor_a_form(
    nobody: httpx.AsyncClient, alice: Visitor
) -> None:
    assert "/register" not in (await nobody.get("/login")).text
    assert (await nobody.get("/register")).status_code == 403
    assert (await nobody.post("/register", data=DORA)).status_code == 403


async def test_another_site_cannot_register_an_account(open_site: Site) -> None:
    visitor = await open_site.browser()

    answer = await visitor.post("/register", data=DORA, headers={"Sec-Fetch-Site": "cross-site"})

    assert answer.status_code == 403
