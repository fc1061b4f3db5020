"""A client that may reach loopback, and a scripted web there."""

from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import pytest

from feedmill.coordination.memory import MemoryHostSlots
from feedmill.outbound.address_policy import AddressPolicy, AddressVerdict
from feedmill.outbound.client import Client
from feedmill.outbound.fetch_limits import FetchLimits
from feedmill.outbound.host_pacing import Pacer
from tests.scripted_web import ScriptedResolver, Web
from tests.waiting import LONGEST_WAIT

# Longer than any response takes on a busy machine; a test of a limit sets that one to SHORT.
PATIENT = FetchLimits(
    max_bytes=200_000,
    connect=timedelta(seconds=LONGEST_WAIT),
    read=timedelta(seconds=LONGEST_WAIT),
    total=timedelta(seconds=LONGEST_WAIT),
)
SHORT = timedelta(milliseconds=500)

MakeClient = Callable[..., Client]


class LoopbackIsPublic(AddressPolicy):
    """Treats loopback as the public Internet, so that it is paced."""

    def __init__(self) -> None:
        super().__init__(["127.0.0.0/8"])

    def verdict(self, address: str, port: int) -> AddressVerdict:
        return "public" if super().verdict(address, port) == "allowed" else "address"


@pytest.fixture
async def web() -> AsyncIterator[Web]:
    async with Web() as running:
        yield running


@pytest.fixture
def names() -> ScriptedResolver:
    return ScriptedResolver()


@pytest.fixture
async def make_client(names: ScriptedResolver) -> AsyncIterator[MakeClient]:
    """Creates clients that are closed after the test; loopback is allowed unless a policy is given."""
    made: list[Client] = []

    def make(policy: AddressPolicy | None = None, pacer: Pacer | None = None, **more: Any) -> Client:
        client = Client(
            pacer or Pacer(MemoryHostSlots()),
            policy or AddressPolicy(["127.0.0.0/8"]),
            "feedmill-test",
            **{"limits": PATIENT, "resolver": names, **more},
        )
        made.append(client)
        return client

    yield make
    for client in made:
        await client.close()


@pytest.fixture
def client(make_client: MakeClient) -> Client:
    return make_client()
