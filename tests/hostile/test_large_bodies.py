"""Request bodies are read up to a limit only."""

from collections.abc import AsyncIterator

import httpx
import pytest

from tests.serve.rest.site import Site


@pytest.mark.parametrize("path", ["/api/auth/token", "/api/sessions", "/api/setup"])
async def test_the_endless_body_of_a_visitor_is_not_read_to_its_end(
    site: Site, nobody: httpx.AsyncClient, path: str
) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        yield b'{"name": "'
        for _ in range(100):
            sent += 100_000
            yield b"a" * 100_000

    answer = await nobody.post(path, content=endless(), headers={"Content-Type": "application/json"})

    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert sent < 1_500_000
