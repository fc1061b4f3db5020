"""A real S3 server for the tests: SeaweedFS from PyPI, or the bucket named by FEEDMILL_TEST_S3_URL.

The URL has the form of the `objects` setting with the keys in front of the bucket:
`s3://access:secret@bucket?endpoint=http://…`.
"""

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from feedmill.archive.object_store_config import S3Config, parse_objects_url
from tests.services.server import Service, ServiceMissing, end, find_binary, folder, free_port, launch

BUCKET = "feedmill"
ACCESS_KEY = "feedmill"
SECRET_KEY = "feedmill-secret"
PARTS = ("s3", "master", "volume", "filer", "admin")


def s3_config(service: Service, **changes: object) -> S3Config:
    """The settings of the server, with some changes."""
    keys, bucket = service.url.removeprefix("s3://").split("@", 1)
    access_key, secret_key = map(unquote, keys.split(":", 1))
    config = parse_objects_url(f"s3://{bucket}", access_key, secret_key)
    return replace(config, **changes)  # type: ignore[return-value,arg-type]


@contextmanager
def running_s3() -> Iterator[Service]:
    """Runs an S3 server with an empty bucket during the block."""
    given = os.environ.get("FEEDMILL_TEST_S3_URL")
    if given:
        yield Service("S3", "as given", given)
        return
    weed = find_binary("weed", str(Path(sys.executable).parent))
    with folder("s3") as data:
        ports = _free_ports()
        process = launch(_command(weed, data, ports), data / "log", cwd=data, env=_environment(data))
        try:
            _wait_for_bucket(ports["s3.port"], process, data / "log")
            yield Service("SeaweedFS", _version(weed), _url(ports["s3.port"]))
        finally:
            end(process, signal.SIGKILL)  # on SIGTERM it waits for idle connections
            _remove_sockets(ports)


def _free_ports() -> dict[str, int]:
    return {f"{part}.{kind}": free_port() for part in PARTS for kind in ("port", "port.grpc")}


def _command(weed: str, data: Path, ports: dict[str, int]) -> list[str]:
    return [
        weed,
        "mini",
        f"-dir={data}",
        "-ip=127.0.0.1",
        "-ip.bind=127.0.0.1",
        "-master.telemetry=false",
        "-webdav=false",
        "-admin.ui=false",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        f"-bucket={BUCKET}",
        *(f"-{option}={port}" for option, port in ports.items()),
    ]


def _environment(data: Path) -> dict[str, str]:
    return {"HOME": str(data), "AWS_ACCESS_KEY_ID": ACCESS_KEY, "AWS_SECRET_ACCESS_KEY": SECRET_KEY}


def _url(port: int) -> str:
    return f"s3://{ACCESS_KEY}:{SECRET_KEY}@{BUCKET}?endpoint=http://127.0.0.1:{port}"


def _wait_for_bucket(port: int, process: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise ServiceMissing(f"weed ended at once: {log.read_text()[-2000:]}")
        if _asks_for_a_signature(f"http://127.0.0.1:{port}/{BUCKET}"):
            return
        time.sleep(0.05)
    raise ServiceMissing(f"weed did not serve S3 on port {port} within {seconds} s")


def _asks_for_a_signature(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=2).close()
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 403
    except OSError:
        return False
    return False


def _version(weed: str) -> str:
    said = subprocess.run([weed, "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"\d+\.\d+", said)
    return found[0] if found else "unknown"


def _remove_sockets(ports: dict[str, int]) -> None:
    for port in ports.values():
        for socket in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            socket.unlink(missing_ok=True)
