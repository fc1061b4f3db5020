"""The OpenAPI description is true: schemathesis sends a running server valid and invalid requests made from it."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.command import serving

# It sends thousands of requests, which takes minutes on a busy machine.
pytestmark = [pytest.mark.external, pytest.mark.timeout(570)]

ROOT = Path(__file__).parents[3]
PASSWORD = "correct horse battery"
# Left out, because it would lock itself out by ending its own key, session or account.
NOT_BY_ITSELF = "/api-keys/|/sessions|/auth/|/admin/users|/me/password"


def test_schemathesis_finds_no_errors(tmp_path: Path) -> None:
    with serving(cwd=tmp_path, settings={"api_per_minute": "0"}) as server:
        key = _new_key(server.address)
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "schemathesis.cli",
                "run",
                f"{server.address}/api/openapi.json",
                "--header",
                f"Authorization: Bearer {key}",
                "--exclude-path-regex",
                NOT_BY_ITSELF,
                "--phases",
                "coverage,fuzzing",
                "--max-examples",
                "2",
                "--suppress-health-check",
                "all",
                # One worker: in Python 3.11 two threads that parse code at once may end in a SystemError.
                "--generation-deterministic",
                "--workers",
                "1",
                "--no-color",
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=540,
        )

    assert done.returncode == 0, done.stdout[-20_000:]


def _new_key(address: str) -> str:
    alice: dict[str, object] = {"name": "alice", "password": PASSWORD}
    _post(address, "/setup", alice)
    access = _post(address, "/auth/token", alice)["access_token"]
    wish: dict[str, object] = {"name": "schemathesis", "scopes": ["read", "write", "pools", "fill", "admin"]}
    key: str = _post(address, "/api-keys", wish, access)["key"]
    return key


def _post(address: str, path: str, body: dict[str, object], token: str = "") -> dict[str, str]:
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = urllib.request.Request(f"{address}/api{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        found: dict[str, str] = json.load(answer)
    return found
