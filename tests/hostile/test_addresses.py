"""The Host header of a request cannot make a page link to another server."""

import httpx
import pytest

from tests.serve.rest.site import ORIGIN
from tests.serve.web.visitor import Visitor


@pytest.mark.parametrize("path", ["//evil.example/nowhere", "/\\evil.example/nowhere", "///evil.example/nowhere"])
async def test_a_page_that_is_not_found_links_to_no_other_server(alice: Visitor, path: str) -> None:
    asked = httpx.URL(ORIGIN).copy_with(raw_path=path.encode())

    answer = await alice.client.get(asked)

    assert answer.status_code == 404
    assert 'href="/evil.example/nowhere"' in answer.text


async def test_a_malformed_host_header_is_refused_and_not_shown_on_a_page(alice: Visitor) -> None:
    answer = await alice.client.get("/all", headers={"Host": "evil.example/path?"})

    assert answer.status_code == 421
    assert "evil.example" not in answer.text
