"""The lock of the data folder: for one server, and not lost to a command that looks whether one runs."""

import fcntl
import os
from pathlib import Path

import pytest

from feedmill.serve import data_lock
from feedmill.serve.data_lock import LOCK_FILE_NAME, DataFolderBusy, lock_data_folder, lock_holder


def test_a_server_waits_for_a_command_that_looks_whether_one_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = os.open(tmp_path / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT)
    fcntl.flock(looking, fcntl.LOCK_SH)
    monkeypatch.setattr(data_lock, "sleep", lambda seconds: os.close(looking))

    with lock_data_folder(tmp_path):
        assert lock_holder(tmp_path) == str(os.getpid())


def test_a_second_server_is_refused_within_a_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(data_lock, "sleep", waited.append)

    with (
        lock_data_folder(tmp_path),
        pytest.raises(DataFolderBusy, match=f"process {os.getpid()}"),
        lock_data_folder(tmp_path),
    ):
        pass

    assert 0.5 <= sum(waited) <= 1.01
