"""Pools as configured by the settings."""

from pathlib import Path

import pytest

from feedmill.app import build_app
from feedmill.errors import BadSetting
from feedmill.settings import load_settings
from tests.services.server import Service


async def test_without_redis_pools_are_served_from_the_database(tmp_path: Path) -> None:
    async with build_app(load_settings(data=tmp_path)) as app:
        assert app.pools.tools.lists is None


async def test_with_redis_pools_have_lists(tmp_path: Path, redis_service: Service) -> None:
    async with build_app(load_settings(data=tmp_path, redis=redis_service.url)) as app:
        assert app.pools.tools.lists is not None
        assert await app.pools.tools.lists.queues.length("titles:pool:999") == 0


async def test_an_invalid_redis_url_is_reported_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="redis://host") as told:
        async with build_app(load_settings(data=tmp_path, redis="secret@host")):
            pass

    assert "secret" not in str(told.value)
