"""The signing key: made once, kept with care, and never one that anybody could guess."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from feedmill.errors import BadSetting
from feedmill.secret_key import FILE_NAME, require_shared_key
from feedmill.serve.http.signing_key import _stored_key, signing_key
from feedmill.settings import load_settings

STRONG = "0123456789abcdef" * 4


def test_the_key_is_made_at_the_first_start_for_its_owner_alone(tmp_path: Path) -> None:
    key = signing_key(load_settings(data=str(tmp_path / "data")))

    file = tmp_path / "data" / FILE_NAME
    assert (len(key), file.read_text()) == (64, key + "\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == [FILE_NAME]


def test_a_restart_finds_the_same_key(tmp_path: Path) -> None:
    first = signing_key(load_settings(data=str(tmp_path)))
    _stored_key.cache_clear()

    assert signing_key(load_settings(data=str(tmp_path))) == first


def test_of_several_who_start_at_once_all_have_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as threads:
        keys = set(threads.map(lambda _: _stored_key.__wrapped__(tmp_path / FILE_NAME), range(8)))

    assert len(keys) == 1


def test_the_setting_goes_before_the_file_and_makes_none(tmp_path: Path) -> None:
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
def test_a_key_that_can_be_guessed_stops_the_start(key: str) -> None:
    with pytest.raises(BadSetting, match="secret_key") as refused:
        load_settings(secret_key=key)

    assert key not in str(refused.value)


def test_a_file_that_holds_no_key_is_reported(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text("")

    with pytest.raises(BadSetting, match=FILE_NAME):
        signing_key(load_settings(data=str(tmp_path)))


def test_a_folder_that_can_not_be_written_to_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(BadSetting, match="can't be kept"):
        signing_key(load_settings(data=str(tmp_path / "file")))


def test_several_processes_need_a_key_that_they_share(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="secret_key"):
        require_shared_key(load_settings(data=str(tmp_path)))

    require_shared_key(load_settings(data=str(tmp_path), secret_key=STRONG))
    signing_key(load_settings(data=str(tmp_path)))
    require_shared_key(load_settings(data=str(tmp_path)))
