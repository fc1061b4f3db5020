"""`feedmill user`: accounts from the command line; a password is never a command-line argument."""

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

import pytest

from feedmill.adapters.database import open_migrated_database
from feedmill.encryption import Encryption
from feedmill.settings import load_settings
from feedmill.store.users.users import user_of_name
from tests.cli.command import assert_one_line, feedmill
from tests.library.users.second_factors import set_up_two_factor


@pytest.fixture(scope="module")
def mill_of_alice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alice")
    assert feedmill("user", "add", "alice", cwd=folder, typed="correct horse\n").returncode == 0
    return folder


def test_an_account_is_created_changed_and_deleted(tmp_path: Path) -> None:
    assert "no accounts yet" in feedmill("user", "list", cwd=tmp_path).stdout

    first = feedmill("user", "add", "Alice", cwd=tmp_path, typed="correct horse\n")
    second = feedmill("user", "add", "bob", cwd=tmp_path, typed="battery staple\n")
    assert ("alice, the first account: an admin's" in first.stdout, second.stdout) == (True, "made bob\n")

    disabled = feedmill("user", "disable", "BOB", cwd=tmp_path)
    listed = feedmill("user", "list", cwd=tmp_path).stdout.splitlines()
    assert disabled.returncode == 0
    assert listed[1:] == ["alice\tadmin\tactive\toff\t0\tnever", "bob\treader\tdisabled\toff\t0\tnever"]

    assert feedmill("user", "enable", "bob", cwd=tmp_path).stdout == "bob may sign in again\n"
    changed = feedmill("user", "password", "bob", cwd=tmp_path, typed="another password\n")
    assert "bob has a new password" in changed.stdout
    assert '"status": "active"' in feedmill("user", "list", "--json", cwd=tmp_path).stdout


def test_a_new_password_lists_the_keys_that_stay_and_revokes_them_on_request(tmp_path: Path) -> None:
    feedmill("user", "add", "alice", cwd=tmp_path, typed="correct horse\n")
    for _ in range(2):
        feedmill("user", "key", "alice", cwd=tmp_path)

    kept = feedmill("user", "password", "alice", cwd=tmp_path, typed="another horse\n")
    revoked = feedmill("user", "password", "alice", "--revoke-keys", cwd=tmp_path, typed="a third horse\n")

    assert kept.stdout.splitlines() == [
        "alice has a new password. Sessions ended: 0. Keys revoked: 0.",
        "Keys that still work: 2. 'feedmill user password alice --revoke-keys' ends them.",
    ]
    assert revoked.stdout == "alice has a new password. Sessions ended: 0. Keys revoked: 2.\n"


def test_deleting_an_account_needs_a_confirmation(tmp_path: Path) -> None:
    for name in ("alice", "bob"):
        feedmill("user", "add", name, cwd=tmp_path, typed="correct horse\n")

    kept = feedmill("user", "delete", "bob", cwd=tmp_path, typed="n\n")
    gone = feedmill("user", "delete", "bob", "--yes", cwd=tmp_path, typed="")

    assert (kept.returncode, "private feeds that go too: 0" in kept.stdout + kept.stderr) == (2, True)
    assert gone.stdout == "deleted bob; private feeds deleted: 0\n"
    assert "bob" not in feedmill("user", "list", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("typed", "args", "words"),
    [
        ("", ("delete", "alice", "--yes"), "last admin"),
        ("short\n", ("add", "dora"), "8 to 1,000 characters"),
        ("", ("add", "ALICE"), "taken"),
        ("", ("disable", "alice"), "last admin"),
        ("long enough\n", ("password", "nobody"), "no account nobody"),
    ],
)
def test_an_impossible_change_is_reported_in_one_line(
    mill_of_alice: Path, typed: str, args: tuple[str, ...], words: str
) -> None:
    assert_one_line(feedmill("user", *args, cwd=mill_of_alice, typed=typed), words, code=2)


def test_a_key_is_printed_once_with_no_more_rights_than_its_owner(mill_of_alice: Path) -> None:
    made = feedmill("user", "key", "alice", "--for", "a script", "--scope", "read", cwd=mill_of_alice)

    assert made.returncode == 0
    assert made.stdout.startswith("fm_")


def test_an_app_password_is_printed_once_and_alone(mill_of_alice: Path) -> None:
    made = feedmill("user", "app-password", "alice", "--for", "phone", "--fever", cwd=mill_of_alice)
    unnamed = feedmill("user", "app-password", "alice", "--for", " ", cwd=mill_of_alice)

    assert re.fullmatch(r"([a-z2-9]{4}-){4}[a-z2-9]{4}\n", made.stdout)
    assert_one_line(unnamed, "name the device", code=2)


def test_somebody_is_invited_with_a_link(tmp_path: Path) -> None:
    too_early = feedmill("user", "invite", "bob", cwd=tmp_path)
    feedmill("user", "add", "alice", cwd=tmp_path, typed="correct horse\n")

    invited = feedmill("user", "invite", "Bob", cwd=tmp_path)
    taken = feedmill("user", "invite", "alice", cwd=tmp_path)

    assert too_early.returncode == 2
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/sign-in-link/[\w-]{43}\n", invited.stdout)
    assert "bob\treader\tactive" in feedmill("user", "list", cwd=tmp_path).stdout
    assert_one_line(taken, "taken", code=2)


def test_a_link_is_made_for_an_active_account_only(tmp_path: Path) -> None:
    for name in ("alice", "bob"):
        feedmill("user", "add", name, cwd=tmp_path, typed="correct horse\n")
    feedmill("user", "disable", "bob", cwd=tmp_path)

    assert "/sign-in-link/" in feedmill("user", "sign-in-link", "alice", cwd=tmp_path).stdout
    assert feedmill("user", "sign-in-link", "bob", cwd=tmp_path).returncode == 2


async def test_two_factors_of_the_last_admin_are_turned_off_from_the_command_line(mill_of_alice: Path) -> None:
    settings = load_settings(data=str(mill_of_alice / "data"))
    async with open_migrated_database(settings) as db:
        alice = await user_of_name(db, "alice")
        assert alice is not None
        await set_up_two_factor(db, alice, "correct horse", datetime.now(UTC), Encryption.of(settings))

    listed = feedmill("user", "list", "--json", cwd=mill_of_alice).stdout
    done = [feedmill("user", "two-factor-off", "Alice", cwd=mill_of_alice).stdout for _ in range(2)]

    assert '"two_factor_at": "20' in listed
    assert done == [
        "two-factor authentication of alice is off: the password alone signs in again\n",
        "alice has no two-factor authentication; nothing was changed\n",
    ]


async def test_a_backup_has_the_second_factor_encrypted_and_a_check_says_if_the_key_is_wrong(tmp_path: Path) -> None:
    feedmill("user", "add", "alice", cwd=tmp_path, typed="correct horse\n")
    settings = load_settings(data=str(tmp_path / "data"))
    async with open_migrated_database(settings) as db:
        alice = await user_of_name(db, "alice")
        assert alice is not None
        factor = await set_up_two_factor(db, alice, "correct horse", datetime.now(UTC), Encryption.of(settings))
    restored, other = {"data": str(tmp_path / "restored")}, {"secret_key": token_hex(32)}

    feedmill("backup", "--portable", "kept", cwd=tmp_path)
    feedmill("backup", "--restore", "kept", cwd=tmp_path, settings=restored)
    with_key = {"secret_key": (tmp_path / "data" / "secret.key").read_text().strip()}
    checks = [feedmill("doctor", cwd=tmp_path, settings=restored | each) for each in (with_key, other)]

    assert not [path for path in (tmp_path / "kept").rglob("*") if path.is_file() and _contains(path, factor.secret)]
    assert "FAIL" not in checks[0].stdout
    assert "1 user has a second factor that the secret key does not decrypt" in checks[1].stdout


def _contains(path: Path, secret: str) -> bool:
    data = path.read_bytes()
    return secret.encode() in (gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)
