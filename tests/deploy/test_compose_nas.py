"""What `deploy/compose.nas.yaml` promises: one container that may do little, with its data in a folder."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from feedmill.settings import PREFIX, Settings
from tests.docs.pages import ROOT

FILES = [ROOT / "deploy" / name for name in ("compose.yaml", "compose.redis.yaml", "compose.nas.yaml")]
TEXT = FILES[-1].read_text()
SERVICE: dict[str, Any] = yaml.safe_load(TEXT)["services"]["feedmill"]
PAGE = (ROOT / "docs" / "running" / "nas.md").read_text()


@pytest.mark.external
def test_the_files_are_valid() -> None:
    command = [Path(sys.executable).parent / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", *FILES]

    done = subprocess.run(command, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_container_may_do_little() -> None:
    assert SERVICE["read_only"]
    assert SERVICE["cap_drop"] == ["ALL"]
    assert SERVICE["security_opt"] == ["no-new-privileges:true"]
    assert SERVICE["tmpfs"] == ["/tmp"]


def test_its_user_is_that_of_the_image() -> None:
    [user] = re.findall(r"^USER (\d+)$", (ROOT / "deploy" / "Dockerfile").read_text(), re.MULTILINE)

    assert SERVICE["user"] == f"${{OWNER:-{user}:{user}}}"


def test_it_names_settings_that_exist() -> None:
    assert {name.removeprefix(PREFIX).lower() for name in SERVICE["environment"]} <= set(Settings.fields)


def test_the_page_has_every_variable() -> None:
    assert [name for name in set(re.findall(r"\$\{(\w+)", TEXT)) if f"| `{name}` |" not in PAGE] == []
