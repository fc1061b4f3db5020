"""The image, really built and started: locked down, healthy, stopped in order, upgraded without loss."""

import asyncio
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from feedmill import __version__
from tests.deploy.wheel import NEXT_SCHEMA, NEXT_VERSION, build_next_wheel
from tests.scripted_web.server import Answer, Web
from tests.services.containers import IMAGE, Container, Engine
from tests.services.server import free_port
from tests.waiting import wait_until

USER = 10001
NEXT_IMAGE = "localhost/feedmill-next"
# The image as it is, with the package of the next version in the place of this one. Ours has no pip.
NEXT_DOCKERFILE = f"""FROM {IMAGE}
USER 0
COPY *.whl /
RUN python3 -m venv /pip \\
 && /pip/bin/pip --python /opt/feedmill/bin/python install --quiet --no-index --no-deps /*.whl
USER {USER}
"""
FEED = b"""<rss version="2.0"><channel><title>Harbour birds</title>
<item><guid>1</guid><title>A grey heron</title><description>By the lock.</description></item></channel></rss>"""


class Installed:
    """Containers that come one after the other, with the same volume."""

    def __init__(self, engine: Engine, volume: Path) -> None:
        self._engine, self._volume, self._port = engine, volume, free_port()

    @property
    def schema(self) -> int:
        """The last migration of the database in the volume."""
        with closing(sqlite3.connect(self._volume / "feedmill.db")) as db:
            [(version,)] = db.execute("SELECT max(version) FROM migrations WHERE applied_at IS NOT NULL")
        return int(version)

    def build_next_image(self, folder: Path) -> None:
        shutil.copy(build_next_wheel(folder / "wheel"), folder)
        (folder / "Dockerfile").write_text(NEXT_DOCKERFILE)
        self._engine.build_from(folder, NEXT_IMAGE)

    def start(self, image: str = IMAGE) -> Container:
        settings = {"PORT": self._port, "LISTEN": "127.0.0.1", "ALLOW_PRIVATE": "127.0.0.0/8"}
        variables = [f"--env=FEEDMILL_{name}={value}" for name, value in settings.items()]
        container = self._engine.start(f"--volume={self._volume}:/data", *variables, image)
        wait_until(container.is_healthy, otherwise="the container is not healthy")
        return container


@pytest.fixture
def installed(container_engine: Any, tmp_path: Path) -> Iterator[Installed]:
    volume = tmp_path / "volume"
    volume.mkdir(mode=0o700)
    os.chown(volume, USER, USER)
    yield Installed(container_engine, volume)
    container_engine.podman("rm", "--all", "--force", "--time=0")


# One test, because the image takes a minute to build, and each test may be run by another worker. The build downloads
# its libraries, and waits for that.
@pytest.mark.timeout(1800)
async def test_it_serves_as_nobody_and_is_stopped_upgraded_and_killed_without_loss(
    installed: Installed, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await asyncio.to_thread(installed.build_next_image, tmp_path_factory.mktemp("next"))

    async with Web() as web:
        await asyncio.to_thread(_live, installed, web.serve("/feed", Answer(FEED)))


def _live(installed: Installed, url: str) -> None:
    first = installed.start()
    _check_rights(first)
    _subscribe(first, url)

    assert first.stop() == 0, first.logs()
    first.remove()

    upgraded = installed.start(NEXT_IMAGE)
    assert upgraded.run("feedmill", "--version") == f"feedmill {NEXT_VERSION}\n"
    assert installed.schema == NEXT_SCHEMA
    _check_content(upgraded, url)
    upgraded.kill()
    upgraded.remove()

    third = installed.start(NEXT_IMAGE)
    _check_content(third, url)


def _check_rights(container: Container) -> None:
    assert container.run("feedmill", "--version") == f"feedmill {__version__}\n"
    assert container.run("id", "-u").strip() == str(USER)
    assert container.run("sh", "-c", "grep -E 'Cap(Prm|Eff|Bnd)' /proc/1/status").split()[1::2] == ["0" * 16] * 3
    assert container.fails_to_run("touch", "/opt/feedmill/new")
    assert container.fails_to_run("touch", "/new")
    assert container.fails_to_run("/opt/feedmill/bin/python", "-m", "pip", "--version")
    assert container.run("stat", "--format=%a", "/data/feedmill.db").strip() == "600"


def _subscribe(container: Container, url: str) -> None:
    container.run("feedmill", "user", "add", "alice", typed="correct horse battery\n" * 2)
    container.run("feedmill", "add", "--user", "alice", url)
    _check_content(container, url)


def _check_content(container: Container, url: str) -> None:
    assert "A grey heron" in container.run("feedmill", "show", url)
