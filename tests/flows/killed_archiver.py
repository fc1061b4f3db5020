"""A process that archives images and is killed right after its first put. Settings come from the environment."""

import asyncio
import os
import signal
from dataclasses import replace

from feedmill.app import build_app
from feedmill.archive.blobs import Blobs
from feedmill.archive.images.download import archive_images
from feedmill.settings import load_settings


class KilledAfterPut:
    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self._blobs.put(key, data, content_type)
        os.kill(os.getpid(), signal.SIGKILL)


async def main() -> None:
    async with build_app(load_settings()) as app:
        await archive_images(replace(app.images, blobs=KilledAfterPut(app.blobs)))  # type: ignore[arg-type]


if __name__ == "__main__":
    asyncio.run(main())
