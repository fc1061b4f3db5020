import tempfile
from pathlib import Path

import pytest

from tests.memory_folder import use_memory_folder


@pytest.fixture(autouse=True)
def no_folder_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", "")
    monkeypatch.delenv("TMPDIR")


def test_temporary_files_are_made_in_the_memory_folder(tmp_path: Path) -> None:
    use_memory_folder(tmp_path, least_free=0)

    assert tempfile.gettempdir() == str(tmp_path)


def test_a_folder_that_the_user_chose_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    monkeypatch.setenv("TMPDIR", str(chosen))

    use_memory_folder(tmp_path, least_free=0)

    assert tempfile.gettempdir() == str(chosen)


@pytest.mark.parametrize(("name", "least_free"), [("", 10**18), ("absent", 0)])
def test_a_memory_folder_that_is_full_or_absent_is_not_used(tmp_path: Path, name: str, least_free: int) -> None:
    use_memory_folder(tmp_path / name, least_free)

    assert not tempfile.gettempdir().startswith(str(tmp_path))
