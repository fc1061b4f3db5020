"""The API process of a scaled-out installation, in this process, as Alice uses it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from feedmill.app import App, build_app
from feedmill.model.user import SCOPES
from feedmill.run.distributed import DistributedParts, open_distributed
from feedmill.serve import asgi
from feedmill.settings import load_settings
from feedmill.store.users.api_keys import add_api_key
from tests.faults.scaled_out_installation import ScaledOutInstallation

ALICE = 1


@dataclass(frozen=True)
class Api:
    app: App
    out: DistributedParts
    alice: httpx.AsyncClient


@asynccontextmanager
async def running_api(scaled: ScaledOutInstallation) -> AsyncIterator[Api]:
    """Everything of `feedmill api` but the socket."""
    await add_api_key(scaled.env.db, ALICE, "test", "fm_alice", SCOPES, datetime.now(UTC))
    headers = {"Authorization": "Bearer fm_alice"}
    async with build_app(load_settings(**scaled.env.settings)) as app, open_distributed(app) as out:
        transport = httpx.ASGITransport(asgi.create_asgi_app(app, out.batches))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost/api", headers=headers, timeout=30
        ) as alice:
            yield Api(app, out, alice)
