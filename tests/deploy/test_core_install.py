"""The core alone, installed from its lock into an environment of its own: what it has, and what it says it lacks."""

from pathlib import Path

import pytest

from feedmill import __version__
from tests.deploy.wheel import ROOT, Installation

MAN_PAGE = ROOT / "man" / "feedmill.1"
OPTIONAL = {"asyncpg", "asyncmy", "obstore", "celery", "kombu", "redis"}
BUILD_TOOLS = {"hatchling", "editables", "cython", "setuptools"}


def test_the_core_has_no_library_of_an_extra_and_no_build_tool(core: Installation) -> None:
    installed = {path.name.lower() for path in core.packages.iterdir()}

    assert installed.isdisjoint(OPTIONAL | BUILD_TOOLS)


def test_the_core_checks_its_database_and_its_folder(core: Installation, tmp_path: Path) -> None:
    done = core.run(tmp_path, "doctor")

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"the data will be in {tmp_path}/.local/share/feedmill" in done.stdout


def test_the_data_lies_where_the_platform_or_a_setting_says(core: Installation, tmp_path: Path) -> None:
    core.run(tmp_path, "migrate", XDG_DATA_HOME=str(tmp_path / "platform"))
    core.run(tmp_path, "--data", "option", "migrate")

    assert sorted(path.parent.relative_to(tmp_path) for path in tmp_path.rglob("feedmill.db")) == [
        Path("option"),
        Path("platform/feedmill"),
    ]


def test_the_man_page_is_where_man_looks_for_it(core: Installation) -> None:
    assert (core.environment / "share" / "man" / "man1" / "feedmill.1").read_bytes() == MAN_PAGE.read_bytes()


def test_the_settings_of_the_user_are_read_unless_the_current_folder_has_some(
    core: Installation, tmp_path: Path
) -> None:
    ours = tmp_path / ".config" / "feedmill"
    ours.mkdir(parents=True)
    (ours / "feedmill.toml").write_text("port = 8111")

    of_user = core.run(tmp_path, "settings", "--json")
    (tmp_path / "feedmill.toml").write_text("port = 8222")
    of_folder = core.run(tmp_path, "settings", "--json")

    assert "8111" in of_user.stdout, of_user
    assert "8222" in of_folder.stdout, of_folder


def test_the_version_is_printed(core: Installation, tmp_path: Path) -> None:
    assert core.run(tmp_path, "--version").stdout == f"feedmill {__version__}\n"


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
    core: Installation, tmp_path: Path, settings: list[str], extra: str
) -> None:
    chosen = [word for setting in settings for word in ("--set", setting)]

    done = core.run(tmp_path, *chosen, "purge")

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"pip install 'feedmill[{extra}]'" in done.stderr


@pytest.mark.parametrize("command", ["api", "scheduler", "worker"])
def test_a_command_of_a_scaled_out_installation_names_the_extra(
    core: Installation, tmp_path: Path, command: str
) -> None:
    done = core.run(tmp_path, command)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'feedmill[scale]'" in done.stderr
