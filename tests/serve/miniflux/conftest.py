import pytest

from tests.serve.app_client import AppUser
from tests.serve.miniflux.miniflux_app import MinifluxApp


@pytest.fixture
async def app(alice: AppUser) -> MinifluxApp:
    return MinifluxApp(alice)
