"""The core alone, installed from its lock into an environment of its own: what it has, and what it says it lacks."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
OPTIONAL = {"asyncpg", "asyncmy", "obstore", "celery", "kombu", "redis"}
BUILD_TOOLS = {"hatchling", "editables", "cython", "setuptools"}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with the core's lock and our code, as `make run` makes it."""
    place = tmp_path_factory.mktemp("core") / "venv"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, place], check=True)
    install = [UV, "pip", "install", "--quiet", "--compile-bytecode", "--python", place / "bin" / "python"]
    subprocess.run([*install, "--require-hashes", "-r", ROOT / "requirements.lock"], check=True)
    ours = ["--no-deps", "--build-constraints", ROOT / "requirements-build.lock", "--editable", ROOT]
    subprocess.run([*install, *ours], check=True)
    return place


def run(environment: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [environment / "bin" / "feedmill", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_the_core_has_no_library_of_an_extra_and_no_build_tool(environment: Path) -> None:
    [packages] = environment.glob("lib/*/site-packages")

    installed = {path.name.lower() for path in packages.iterdir()}

    assert installed.isdisjoint(OPTIONAL | BUILD_TOOLS)


def test_the_core_checks_its_database_and_its_folder(environment: Path, tmp_path: Path) -> None:
    done = run(environment, tmp_path, "check")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("settings", "extra"),
    [
        (["database=postgresql://localhost/feedmill"], "postgres"),
        (["database=mysql://localhost/feedmill"], "mysql"),
        (["objects=s3://bucket", "s3_access_key=a", "s3_secret_key=b"], "s3"),
        (["redis=redis://localhost:6379/0"], "scale"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_adapter_that_is_not_installed_is_one_line_that_names_its_extra(
    environment: Path, tmp_path: Path, settings: list[str], extra: str
) -> None:
    chosen = [word for setting in settings for word in ("--set", setting)]

    done = run(environment, tmp_path, *chosen, "purge")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"pip install 'feedmill[{extra}]'" in done.stderr


@pytest.mark.parametrize("command", ["api", "scheduler", "worker"])
def test_a_command_of_a_scaled_out_installation_names_the_extra(
    environment: Path, tmp_path: Path, command: str
) -> None:
    done = run(environment, tmp_path, command)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'feedmill[scale]'" in done.stderr
