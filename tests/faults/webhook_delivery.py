"""A process that delivers one chunk of webhooks and may be killed meanwhile."""

import asyncio

from feedmill.app import build_app
from feedmill.logs import set_up
from feedmill.settings import load_settings


def run(settings: dict[str, str]) -> None:
    set_up(load_settings(**settings))
    asyncio.run(_deliver(settings))


async def _deliver(settings: dict[str, str]) -> None:
    async with build_app(load_settings(**settings)) as app:
        await app.webhooks.deliver()
