"""What a shell completes: commands and options at once, names from the database, and nothing where that fails."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import feedmill.cli as command_line
from feedmill.cli import COMPLETE_VARIABLE
from feedmill.cli.completion import SHELLS
from feedmill.optional_imports import MissingExtra
from tests.cli.command import feedmill
from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item

# As bash calls the function of the script when Tab is pressed.
PRESS_TAB = """
source ./script
COMP_WORDS=(feedmill re) COMP_CWORD=1 COMPREPLY=()
_feedmill_completion "$1"
echo "${COMPREPLY[@]}"
"""


def complete(folder: Path, *words: str, shell: str = "bash") -> list[str]:
    """What the program suggests for the last of the words."""
    typed = " ".join(["feedmill", *words])
    # zsh and bash send the number of the word at the cursor, fish the word itself.
    cursor = words[-1] if shell == "fish" else str(len(words))
    asked = {COMPLETE_VARIABLE: f"{shell}_complete", "COMP_WORDS": typed, "COMP_CWORD": cursor}
    done = feedmill(cwd=folder, **asked)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def names(folder: Path, *words: str) -> list[str]:
    return [line.partition(",")[2] for line in complete(folder, *words) if line]


@pytest.fixture
async def site(cli: CommandLine) -> Path:
    """A folder with two feeds, a user and a pool group."""
    await cli.run("user", "add", "alice", typed="correct horse\n")
    for path, title in (("/a", "Herons"), ("/b", "Sneaky\x1b[2J\nplain,evil")):
        await cli.ok("add", cli.web.serve(path, answer(item("a"), title=title)))
    await cli.ok("pool", "create", "news")
    return cli.folder


def test_commands_and_options_are_completed_without_a_database(tmp_path: Path) -> None:
    assert names(tmp_path, "re") == ["refresh", "remove", "restore", "resume"]
    assert names(tmp_path, "refresh", "--a") == ["--all"]
    assert names(tmp_path, "completion", "") == list(SHELLS)
    assert complete(tmp_path, "--data", "da") == ["dir,da"]
    assert complete(tmp_path, "import", "li") == ["file,li"]


def test_feeds_users_and_pool_groups_are_completed_by_name(site: Path) -> None:
    assert names(site, "show", "") == ["1", "2"]
    assert names(site, "add", "--user", "a") == ["alice"]
    assert names(site, "user", "password", "") == ["alice"]
    assert names(site, "pool", "items", "n") == ["news"]


def test_a_new_name_is_not_completed(site: Path) -> None:
    assert names(site, "user", "add", "a") == []
    assert names(site, "pool", "create", "n") == []


def test_a_title_is_shown_beside_the_id_and_can_control_nothing(site: Path) -> None:
    shown = complete(site, "show", "", shell="zsh")

    assert shown[:3] == ["plain", "1", "Herons"]
    assert len(shown) == 6
    assert "\x1b" not in "".join(shown)


def test_nothing_is_created_to_complete_a_name(tmp_path: Path) -> None:
    assert names(tmp_path, "show", "") == []
    assert names(tmp_path, "--data", "other", "show", "") == []
    assert list(tmp_path.iterdir()) == []


def test_a_setting_or_a_database_that_is_wrong_completes_nothing(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "feedmill.db").write_bytes(b"not a database" * 100)

    assert names(tmp_path, "show", "") == []
    assert names(tmp_path, "--set", "port=words", "show", "") == []


@pytest.mark.parametrize(
    "error",
    [
        MissingExtra("this needs celery, which is not installed"),
        PermissionError(13, "Permission denied"),
        KeyboardInterrupt(),
    ],
)
def test_no_error_is_printed_into_the_prompt(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(name: str) -> None:
        raise error

    monkeypatch.setattr(command_line, "import_by_name", fail)
    monkeypatch.setattr(os, "umask", lambda mask: mask)
    asked = {COMPLETE_VARIABLE: "bash_complete", "COMP_WORDS": "feedmill worker --", "COMP_CWORD": "2"}
    for name, value in asked.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SystemExit) as ended:
        command_line.main()

    assert ended.value.code in (None, 0)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_gets_its_script(shell: str, tmp_path: Path) -> None:
    done = feedmill("completion", shell, cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert f"{COMPLETE_VARIABLE}={shell}_complete" in done.stdout


@pytest.mark.external
@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_with_the_script(tmp_path: Path) -> None:
    (tmp_path / "script").write_text(feedmill("completion", "bash", cwd=tmp_path).stdout)

    program = Path(sys.executable).parent / "feedmill"
    pressed = subprocess.run(["bash", "-c", PRESS_TAB, "-", program], cwd=tmp_path, capture_output=True, text=True)

    assert (pressed.stdout, pressed.stderr) == ("refresh remove restore resume\n", "")
