"""The scopes of a key apply on pages as well as in the API."""

from datetime import UTC, datetime

import pytest

from feedmill.store.users.api_keys import add_api_key
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor


@pytest.mark.parametrize("path", ["/all", "/feeds", "/export", "/search?q=mill", "/settings", "/login"])
async def test_a_key_for_pools_cannot_read_pages(site: Site, alice: Visitor, path: str) -> None:
    owner = await alice.user(site)
    await add_api_key(site.app.db, owner.id, "consumer", "fm_consumer", ("pools",), datetime.now(UTC))
    program = await site.browser(Authorization="Bearer fm_consumer")

    answer = await program.get(path)

    assert "Quiet Systems" not in answer.text
    # To a program `/feeds` is the API, which refuses the key.
    is_refused = answer.status_code == 403 or answer.headers.get("location", "").startswith("/login?next=")
    assert path == "/login" or is_refused


async def test_a_browser_is_identified_by_its_session_whatever_a_proxy_adds(alice: Visitor) -> None:
    headers = {"Authorization": "Bearer of-the-proxy", "Accept": "text/html,*/*;q=0.8"}

    answers = [await alice.client.get(path, headers=headers) for path in ("/all", "/feeds")]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert "text/html" in answers[1].headers["content-type"]
