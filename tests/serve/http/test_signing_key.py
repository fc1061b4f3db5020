"""The signing key: created once, readable by its owner only, and never one that can be guessed."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from feedmill.errors import BadSetting
from feedmill.secret_key import FILE_NAME, require_shared_key
from feedmill.serve.http.signing_key import _stored_key, signing_key
from feedmill.settings import load_settings

STRONG = "0123456789abcdef" * 4


def test_the_key_is_created_at_the_first_start_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    key = signing_key(load_settings(data=str(tmp_path / "data")))

    file = tmp_path / "data" / FILE_NAME
    assert (len(key), file.read_text()) == (64, key + "\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [FILE_NAME]


def test_a_restart_uses_the_same_key(tmp_path: Path) -> None:
    first = signing_key(load_settings(data=str(tmp_path)))
    _stored_key.cache_clear()

    assert signing_key(load_settings(data=str(tmp_path))) == first


def test_processes_that_start_at_once_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: _stored_key.__wrapped__(tmp_path / FILE_NAME), range(8)))

    assert len(keys) == 1


def test_the_setting_overrides_the_file_and_creates_none(tmp_path: Path) -> None:
    assert signing_key(load_settings(data=str(tmp_path), secret_key=STRONG)) == STRONG
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "key",
    [
        "short",
        "a" * 64,
        "changeme" * 8,
        "Change-Me-In-Production-0123456789",
        "your-secret-key-please-replace-it-now",
        "insecure-0123456789abcdef0123456789",
    ],
)
def test_a_key_that_can_be_guessed_prevents_the_start(key: str) -> None:
    with pytest.raises(BadSetting, match="secret_key") as refused:
        load_settings(secret_key=key)

    assert key not in str(refused.value)


def test_a_file_without_a_valid_key_is_reported(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("")

    with pytest.raises(BadSetting, match=FILE_NAME):
        signing_key(load_settings(data=str(tmp_path)))


def test_a_file_with_bytes_in_place_of_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"\xff" * 32)

    with pytest.raises(BadSetting, match="is not text; 'openssl rand -hex 32'"):
        signing_key(load_settings(data=str(tmp_path)))


def test_a_file_that_cannot_be_read_is_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()

    with pytest.raises(BadSetting, match="can't be read: Is a directory"):
        signing_key(load_settings(data=str(tmp_path)))


def test_a_folder_that_is_not_writable_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(BadSetting, match="can't be written"):
        signing_key(load_settings(data=str(tmp_path / "file")))


def test_several_processes_need_a_shared_key(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="secret_key"):
        require_shared_key(load_settings(data=str(tmp_path)))

    require_shared_key(load_settings(data=str(tmp_path), secret_key=STRONG))
    signing_key(load_settings(data=str(tmp_path)))
    require_shared_key(load_settings(data=str(tmp_path)))
