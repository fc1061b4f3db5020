"""A client that may reach loopback, a scripted web there, and limits short enough for a test."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest

from feedmill.coordination.memory import MemoryTurns
from feedmill.outbound.addresses import AddressPolicy, Verdict
from feedmill.outbound.client import Client
from feedmill.outbound.options import Limits
from feedmill.outbound.pacing import Pacer
from tests.www import ScriptedNames, Web

SHORT = Limits(
    max_bytes=200_000,
    connect=timedelta(milliseconds=500),
    read=timedelta(milliseconds=300),
    total=timedelta(milliseconds=800),
)

MakeClient = Callable[..., Client]


class LoopbackIsPublic(AddressPolicy):
    """Takes loopback for the public Internet, so that it is paced."""

    def __init__(self) -> None:
        super().__init__(["127.0.0.0/8"])

    def verdict(self, address: str, port: int) -> Verdict:
        return "public" if super().verdict(address, port) == "allowed" else "address"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with Web() as running:
        yield running


@pytest.fixture
def names() -> ScriptedNames:
    return ScriptedNames()


@pytest.fixture
async def make_client(names: ScriptedNames) -> AsyncIterator[MakeClient]:
    """Makes clients that are closed after the test; loopback is allowed unless a policy is given."""
    made: list[Client] = []

    def make(policy: AddressPolicy | None = None, pacer: Pacer | None = None, **more: Any) -> Client:
        client = Client(
            pacer or Pacer(MemoryTurns()),
            policy or AddressPolicy(["127.0.0.0/8"]),
            "feedmill-test",
            **{"limits": SHORT, "names": names, **more},
        )
        made.append(client)
        return client

    yield make
    for client in made:
        await client.close()


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    return make_client()
