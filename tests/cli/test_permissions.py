"""Files that Feedmill writes are readable by its user only, whatever the umask."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.cli.command import feedmill, serving


@pytest.fixture(autouse=True)
def _wide_umask() -> object:
    """Sets the most permissive umask."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, str]:
    """The permissions of a folder and everything in it, without what a server that runs removes meanwhile."""
    found = {}
    for path in everything(folder):
        with suppress(FileNotFoundError):
            found[str(path.relative_to(folder.parent))] = oct(path.stat().st_mode & 0o777)
    return found


def everything(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


def assert_private(folder: Path) -> None:
    wide = {name: mode for name, mode in modes(folder).items() if mode not in ("0o600", "0o700")}
    assert wide == {}


def test_everything_is_private_from_the_first_start(tmp_path: Path) -> None:
    with serving(cwd=tmp_path) as server:
        server.get("/api/me")
        assert {"data", "data/feedmill.db", "data/feedmill.db-wal", "data/feedmill.db-shm"} <= modes(
            tmp_path / "data"
        ).keys()
        assert_private(tmp_path / "data")


def test_make_run_keeps_everything_private_too(tmp_path: Path) -> None:
    # Independent of a surrounding `make test`: as a part of that make it would print its folders.
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    recipe = subprocess.run(
        ["make", "--dry-run", "run"],
        cwd=Path(__file__).parents[2],
        env=alone,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert recipe.splitlines()[-1].endswith("feedmill serve")


@pytest.mark.parametrize("portable", [[], ["--portable"]])
def test_a_backup_is_private(tmp_path: Path, portable: list[str]) -> None:
    feedmill("migrate", cwd=tmp_path)
    (tmp_path / "given").mkdir()

    made = feedmill("backup", "fresh", *portable, cwd=tmp_path)
    into = feedmill("backup", "given", *portable, cwd=tmp_path)

    assert (made.returncode, into.returncode) == (0, 0)
    assert_private(tmp_path / "fresh")
    assert oct((tmp_path / "given").stat().st_mode & 0o777) == "0o777"
    assert {path.stat().st_mode & 0o077 for path in everything(tmp_path / "given")[1:]} == {0}


def test_an_existing_folder_keeps_its_permissions_and_new_files_are_private(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)

    feedmill("migrate", cwd=tmp_path)

    assert modes(tmp_path / "data")["data"] == "0o755"
    assert modes(tmp_path / "data")["data/feedmill.db"] == "0o600"
    assert feedmill("doctor", cwd=tmp_path).returncode == 0


def test_data_that_every_user_can_read_is_reported_on_start_and_by_the_doctor(tmp_path: Path) -> None:
    feedmill("migrate", cwd=tmp_path)
    (tmp_path / "data").chmod(0o755)
    (tmp_path / "data" / "feedmill.db").chmod(0o644)

    checked = feedmill("doctor", cwd=tmp_path)
    with serving(cwd=tmp_path) as server:
        server.stop()

    assert checked.returncode == 1
    assert "chmod go-rwx data/feedmill.db" in checked.stdout
    log = [json.loads(line) for line in (tmp_path / "serve.log").read_text().splitlines()]
    [warning] = [line for line in log if line["event"] == "data_readable_by_others"]
    assert "data/feedmill.db" in warning["hint"]


def test_group_permissions_are_left_alone(tmp_path: Path) -> None:
    feedmill("migrate", cwd=tmp_path)
    (tmp_path / "data").chmod(0o750)
    (tmp_path / "data" / "feedmill.db").chmod(0o640)

    checked = feedmill("doctor", "--json", cwd=tmp_path)

    assert checked.returncode == 0
    assert "a group can read" in checked.stdout
    assert modes(tmp_path / "data")["data/feedmill.db"] == "0o640"
