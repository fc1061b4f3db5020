"""`feedmill migrate`, and the general behaviour of the command line."""

from pathlib import Path

import pytest

from feedmill import __version__
from tests.cli import new_interpreter
from tests.cli.command import assert_one_line, feedmill


def test_migrating_reports_what_was_done_and_then_that_nothing_is_left(tmp_path: Path) -> None:
    first = feedmill("migrate", cwd=tmp_path)
    second = feedmill("migrate", cwd=tmp_path)

    assert first.stdout.startswith("applied 0001 base\n")
    assert second.stdout == "nothing to do: the schema is up to date\n"
    assert (first.returncode, second.returncode) == (0, 0)


def test_the_sqlite_file_is_in_the_data_folder(tmp_path: Path) -> None:
    feedmill("--data", "elsewhere/deep", "migrate", cwd=tmp_path)

    assert (tmp_path / "elsewhere" / "deep" / "feedmill.db").exists()


def test_an_unknown_command_is_reported_and_changes_nothing(tmp_path: Path) -> None:
    done = feedmill("migrat", cwd=tmp_path)

    assert done.returncode == 2
    assert "No such command 'migrat'" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("args", [("--help",), ("-h",), ("migrate", "--help"), ("--version",)])
def test_help_and_version_work_even_with_bad_settings(tmp_path: Path, args: tuple[str, ...]) -> None:
    done = feedmill(*args, cwd=tmp_path, settings={"port": "words"})

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"feedmill {__version__}\n" if args == ("--version",) else "Usage:" in done.stdout


def test_the_version_is_that_of_the_code_also_where_another_was_installed(tmp_path: Path) -> None:
    installed = tmp_path / "feedmill-0.0.1.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: feedmill\nVersion: 0.0.1\n")
    source = Path(__file__).parents[2] / "src"

    done = new_interpreter.feedmill("--version", cwd=tmp_path, PYTHONPATH=f"{tmp_path}:{source}")

    assert done.stdout == f"feedmill {__version__}\n"


def test_an_option_without_a_value_is_reported(tmp_path: Path) -> None:
    assert_one_line(feedmill("--set", "nothing", "migrate", cwd=tmp_path), "NAME=VALUE", code=2)
