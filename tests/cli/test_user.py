"""`feedmill user`: accounts from the command line; a password never stands among the arguments."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.command import COMMAND, assert_one_line, environment, feedmill


def with_input(typed: str, *args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *args], cwd=cwd, env=environment(), input=typed, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def mill_of_alice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alice")
    assert with_input("correct horse\n", "user", "add", "alice", cwd=folder).returncode == 0
    return folder


def test_an_account_from_first_to_last(tmp_path: Path) -> None:
    assert "no accounts yet" in feedmill("user", "list", cwd=tmp_path).stdout

    first = with_input("correct horse\n", "user", "add", "Alice", cwd=tmp_path)
    second = with_input("battery staple\n", "user", "add", "bob", cwd=tmp_path)
    assert ("alice, the first account: an admin's" in first.stdout, second.stdout) == (True, "made bob\n")

    disabled = feedmill("user", "disable", "BOB", cwd=tmp_path)
    listed = feedmill("user", "list", cwd=tmp_path).stdout.splitlines()
    assert disabled.returncode == 0
    assert listed[1:] == ["alice\tadmin\tactive\t0\tnever", "bob\treader\tdisabled\t0\tnever"]

    assert feedmill("user", "enable", "bob", cwd=tmp_path).stdout == "bob may sign in again\n"
    changed = with_input("another password\n", "user", "password", "bob", cwd=tmp_path)
    assert "bob has a new password" in changed.stdout
    assert '"status": "active"' in feedmill("user", "list", "--json", cwd=tmp_path).stdout


@pytest.mark.parametrize(
    ("typed", "args", "words"),
    [
        ("short\n", ("add", "dora"), "8 to 1000 characters"),
        ("", ("add", "ALICE"), "taken"),
        ("", ("disable", "alice"), "last admin"),
        ("long enough\n", ("password", "nobody"), "no account nobody"),
    ],
)
def test_what_can_not_be_done_is_told_in_one_line(
    mill_of_alice: Path, typed: str, args: tuple[str, ...], words: str
) -> None:
    assert_one_line(with_input(typed, "user", *args, cwd=mill_of_alice), words, code=2)


def test_a_key_is_printed_once_and_no_more_powerful_than_its_owner(mill_of_alice: Path) -> None:
    made = feedmill("user", "key", "alice", "--for", "a script", "--scope", "read", cwd=mill_of_alice)

    assert made.returncode == 0
    assert made.stdout.startswith("fm_")
