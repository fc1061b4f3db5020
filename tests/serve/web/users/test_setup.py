"""From an empty installation to being signed in, without scripts."""

from datetime import UTC, datetime

import httpx
import pytest
from lxml import html

from feedmill.library.users.manage_users import create_first_admin, needs_setup
from tests.browser.sample_feeds import PASSWORD
from tests.serve.rest.site import Site

GOOD = {"name": "alice", "password": PASSWORD, "again": PASSWORD}


async def test_an_empty_installation_asks_for_the_first_account(site: Site, nobody: httpx.AsyncClient) -> None:
    for path in ("/", "/unread", "/login", "/item/1"):
        answer = await nobody.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, "/setup")

    assert 'name="again"' in (await nobody.get("/setup")).text


async def test_the_first_account_is_signed_in_at_once(site: Site, nobody: httpx.AsyncClient) -> None:
    made = await nobody.post("/setup", data=GOOD)

    assert made.status_code == 303
    assert (await nobody.get("/unread")).status_code == 200
    assert (await nobody.get("/setup")).headers["location"] == "/"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("name", "a b", "A name has 1 to 64 letters"),
        ("password", "short", "A password has 8 to 1000 characters."),
        ("again", "something else", "The two passwords are not the same."),
    ],
)
async def test_an_invalid_value_is_reported_at_its_field(
    site: Site, nobody: httpx.AsyncClient, field: str, value: str, words: str
) -> None:
    sent = GOOD | {field: value} | ({"again": value} if field == "password" else {})

    answer = await nobody.post("/setup", data=sent)

    [wrong] = html.fromstring(answer.text).xpath("//div[contains(@class, 'wrong')]")
    assert answer.status_code == 422
    assert words in wrong.text_content()
    assert wrong.xpath(".//input/@name") == [field]
    assert await needs_setup(site.app.db)


async def test_a_second_setup_leads_to_the_sign_in_page(site: Site, nobody: httpx.AsyncClient) -> None:
    await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))

    answer = await nobody.post("/setup", data=GOOD | {"name": "mallory"})

    assert (answer.status_code, answer.headers["location"]) == (303, "/login")
    assert "feedmill_session" not in answer.cookies
