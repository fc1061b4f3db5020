"""An app that speaks the Miniflux API."""

from dataclasses import dataclass
from typing import Any

import httpx

from tests.serve.app_client import AppUser


@dataclass(frozen=True)
class MinifluxApp:
    """Paths are below `/v1`."""

    user: AppUser

    async def send(self, method: str, path: str, json: Any = None, **more: Any) -> httpx.Response:
        headers = {"X-Auth-Token": self.user.password}
        return await self.user.client.request(method, f"/v1{path}", json=json, headers=headers, **more)

    async def get(self, path: str) -> Any:
        answer = await self.send("GET", path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def ids(self, query: str) -> list[int]:
        """The ids of the entries that a query lists."""
        return [entry["id"] for entry in (await self.get(f"/entries?{query}"))["entries"]]
