"""People over the flows' world: Alice owns it, Bob shares it, Charlie must see nothing."""

import pytest

from feedmill.model.user import User
from tests.flows.conftest import any_world, world
from tests.flows.world import World
from tests.library.readers import Readers

__all__ = ["any_world", "world"]


@pytest.fixture
def readers(world: World) -> Readers:
    return Readers(world)


@pytest.fixture
async def alice(readers: Readers) -> User:
    return await readers.person("alice")


@pytest.fixture
async def bob(readers: Readers) -> User:
    return await readers.person("bob")
