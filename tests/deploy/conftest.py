"""The built wheel, and an environment in which it is installed."""

from pathlib import Path

import pytest

from tests.deploy.wheel import Installation, build_wheel, install_wheel


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="session")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """The wheel without extras, in a new environment with this Python."""
    return install_wheel(wheel, tmp_path_factory.mktemp("core") / "venv")
