"""The compose file of `deploy/` with podman: real networks, volumes and health checks.

No registry of images is reached by the tests, so an image with Debian's own PostgreSQL, Redis and SeaweedFS takes the
place of those that the compose file names.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

import yaml

from tests.services.containers import IMAGE, ROOT, Container, Engine
from tests.services.server import find_binary, free_port

STORES = Path(__file__).parent / "compose-stores"
# How each of the replaced images starts.
STARTS = {"postgres": 'CMD ["start-postgres"]', "redis": 'CMD ["redis-server"]', "s3": 'ENTRYPOINT ["weed"]'}
# The limits of the machine that runs the tests may be lower than those that podman asks for.
LIMITS = {"nofile": 16384, "nproc": 10000}
ENGINE = """
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
"""


@dataclass(frozen=True)
class Composed:
    """An installation by the compose file; its secrets are in `folder`."""

    engine: Engine
    folder: Path
    port: int

    def up(self) -> None:
        self._compose("up", "--detach", "--no-build", "--pull=never")

    def down(self, *words: str) -> None:
        self._compose("down", *words)

    def container(self, service: str) -> Container:
        return Container(self.engine, f"feedmill_{service}_1")

    def _compose(self, *words: str) -> None:
        program = find_binary("podman-compose", str(Path(sys.executable).parent))
        files = ("--file", str(self.folder / "compose.yaml"), "--file", str(self.folder / "limits.yaml"))
        storage = self.folder / "storage.conf"
        env = os.environ | {
            "CONTAINERS_STORAGE_CONF": str(storage),
            "CONTAINERS_CONF": str(self.folder / "engine.conf"),
        }
        done = subprocess.run([program, *files, *words], cwd=self.folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]


def compose(engine: Engine, folder: Path) -> Composed:
    """Builds the images that the compose file names, and prepares its folder as `example.env` says."""
    folder.mkdir()
    shutil.copy(ROOT / "deploy" / "compose.yaml", folder)
    port = free_port()
    filled = re.sub(
        r"(?m)^(\w+)=$", lambda name: f"{name[1]}={token_hex(24)}", (ROOT / "deploy" / "example.env").read_text()
    )
    (folder / ".env").write_text(f"{filled}\nPUBLISH=127.0.0.1:{port}\n")
    services = yaml.safe_load((folder / "compose.yaml").read_text())["services"]
    (folder / "limits.yaml").write_text(yaml.safe_dump({"services": {name: {"ulimits": LIMITS} for name in services}}))
    (folder / "engine.conf").write_text(ENGINE)
    (folder / "storage.conf").write_text(engine.storage_settings())
    _build_stores(engine, folder / "stores", {name: services[name]["image"] for name in STARTS})
    assert services["api"]["image"] == IMAGE.rpartition("/")[2]
    return Composed(engine, folder, port)


def _build_stores(engine: Engine, folder: Path, tags: dict[str, str]) -> None:
    shutil.copytree(STORES, folder)
    shutil.copy(find_binary("weed", str(Path(sys.executable).parent)), folder)
    engine.build_from(folder, "localhost/stores")
    for name, tag in tags.items():
        place = folder / name
        place.mkdir()
        (place / "Dockerfile").write_text(f"FROM localhost/stores\n{STARTS[name]}\n")
        engine.build_from(place, f"docker.io/{tag if '/' in tag else f'library/{tag}'}")
