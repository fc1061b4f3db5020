"""Secrets at rest: what only the right key reads, and what is said when it is missing."""

import stat
from pathlib import Path

import pytest

from feedmill.encryption import NO_ENCRYPTION, Encryption, UnreadableSecret
from feedmill.errors import BadSetting, InfrastructureError
from feedmill.model.encrypted import Encrypted
from feedmill.secret_key import FILE_NAME, key_location
from feedmill.settings import load_settings

KEY = "0123456789abcdef" * 4
OTHER = "fedcba9876543210" * 4
TEXT = '{"basic_auth": ["alice", "pässword"]}'


def with_key(key: str, *old: str) -> Encryption:
    return Encryption(lambda: key, lambda: key, old)


def test_what_is_encrypted_can_be_read_with_the_same_key_alone() -> None:
    kept = with_key(KEY).encrypt(TEXT, "feeds")

    assert with_key(KEY).decrypt(kept, "feeds") == TEXT
    assert "alice" not in kept.value
    assert (repr(kept), str(kept)) == ("Encrypted()", "***")
    with pytest.raises(UnreadableSecret, match=r"another secret key .*setting secret_key"):
        with_key(OTHER).decrypt(kept, "feeds")


def test_the_same_text_is_never_encrypted_the_same_way_twice() -> None:
    assert with_key(KEY).encrypt(TEXT, "feeds") != with_key(KEY).encrypt(TEXT, "feeds")


def test_a_secret_can_not_be_put_in_the_place_of_another() -> None:
    kept = with_key(KEY).encrypt(TEXT, "feeds")

    with pytest.raises(UnreadableSecret):
        with_key(KEY).decrypt(kept, "webhooks")


def test_an_old_key_still_reads_and_the_new_one_writes() -> None:
    before = with_key(OTHER).encrypt(TEXT, "feeds")
    rotated = with_key(KEY, OTHER)

    assert rotated.decrypt(before, "feeds") == TEXT
    assert with_key(KEY).can_decrypt(rotated.encrypt(TEXT, "feeds"), "feeds")


@pytest.mark.parametrize("value", ["", "enc1", "enc1::", TEXT, "enc2:ab:cd"])
def test_what_is_not_ours_is_refused(value: str) -> None:
    assert not with_key(KEY).can_decrypt(Encrypted(value), "feeds")


def test_a_damaged_value_is_refused() -> None:
    kept = with_key(KEY).encrypt(TEXT, "feeds").value

    for damaged in (kept[:-4], kept[:-1], kept[:20] + "AAAA" + kept[24:]):
        assert not with_key(KEY).can_decrypt(Encrypted(damaged), "feeds")


def test_a_missing_key_is_our_own_failure_and_names_the_setting(tmp_path: Path) -> None:
    kept = with_key(KEY).encrypt(TEXT, "feeds")

    with pytest.raises(InfrastructureError, match=r"the secret key is missing \(setting secret_key"):
        Encryption.of(load_settings(data=str(tmp_path))).decrypt(kept, "feeds")
    assert list(tmp_path.iterdir()) == []


def test_the_first_secret_makes_the_key_for_its_owner_alone(tmp_path: Path) -> None:
    settings = load_settings(data=str(tmp_path / "data"))

    kept = Encryption.of(settings).encrypt(TEXT, "feeds")

    file = tmp_path / "data" / FILE_NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Encryption.of(settings).decrypt(kept, "feeds") == TEXT
    assert key_location(settings) == str(file)


def test_processes_on_several_machines_share_the_setting(tmp_path: Path) -> None:
    api = Encryption.of(load_settings(data=str(tmp_path / "api"), secret_key=KEY, redis="redis://localhost"))
    worker = Encryption.of(load_settings(data=str(tmp_path / "worker"), secret_key=KEY, redis="redis://localhost"))
    rotated = Encryption.of(
        load_settings(data=str(tmp_path / "worker"), secret_key=OTHER, old_secret_keys=f" {KEY} , x")
    )

    kept = api.encrypt(TEXT, "feeds")

    assert worker.decrypt(kept, "feeds") == rotated.decrypt(kept, "feeds") == TEXT
    assert not (tmp_path / "api").exists()


@pytest.mark.parametrize("shared", [{"redis": "redis://localhost"}, {"database": "postgresql://localhost/feedmill"}])
def test_one_of_several_processes_makes_no_key_of_its_own(tmp_path: Path, shared: dict[str, str]) -> None:
    settings = load_settings(data=str(tmp_path), **shared)

    with pytest.raises(BadSetting, match="secret_key"):
        Encryption.of(settings).encrypt(TEXT, "feeds")
    assert list(tmp_path.iterdir()) == []


def test_without_a_key_nothing_is_encrypted() -> None:
    with pytest.raises(UnreadableSecret):
        NO_ENCRYPTION.encrypt(TEXT, "feeds")
