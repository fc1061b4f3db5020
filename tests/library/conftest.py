"""The refresh environment and its users: Alice owns it, Bob shares it, Charlie must see nothing."""

import pytest

from feedmill.model.user import User
from tests.flows.conftest import any_env, env
from tests.flows.refresh_environment import RefreshEnvironment
from tests.library.subscribers import Subscribers

__all__ = ["any_env", "env"]


@pytest.fixture
def subscribers(env: RefreshEnvironment) -> Subscribers:
    return Subscribers(env)


@pytest.fixture
async def alice(subscribers: Subscribers) -> User:
    return await subscribers.person("alice")


@pytest.fixture
async def bob(subscribers: Subscribers) -> User:
    return await subscribers.person("bob")
