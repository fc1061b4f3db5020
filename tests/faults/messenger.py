"""A process that delivers one lot to webhooks, unless it is killed meanwhile."""

import asyncio
import sys

import msgspec

from feedmill.app import build
from feedmill.logs import set_up
from feedmill.settings import load


async def deliver(settings: dict[str, str]) -> None:
    async with build(load(**settings)) as app:
        await app.webhooks.deliver()


if __name__ == "__main__":
    given = msgspec.json.decode(sys.argv[1], type=dict[str, str])
    set_up(load(**given))
    asyncio.run(deliver(given))
