"""`feedmill doctor`: sections, colours, languages, JSON, the exit code; and it changes nothing."""

import json
import re
from pathlib import Path

from feedmill.cli.doctor.command import TITLES
from feedmill.cli.doctor.diagnose import SECTIONS
from feedmill.i18n.catalogue import area_texts
from tests.cli.command import feedmill
from tests.cli.command_line import CommandLine
from tests.services.server import Service, free_port

HERE = Path(__file__).parent
# Parts of other texts.
NO_FINDINGS = re.compile("section_.*|whose_.*|secret_key_setting|summary|.*_help")


def test_every_finding_has_a_test() -> None:
    tests = "".join(path.read_text() for path in HERE.glob("test_*.py"))

    codes = [code for code in area_texts("en", "doctor") if not NO_FINDINGS.fullmatch(code)]

    assert len(codes) > 60
    assert [code for code in codes if f'"{code}"' not in tests] == []


def test_every_section_has_its_title() -> None:
    assert list(TITLES) == list(SECTIONS)


def test_a_new_folder_is_fine_and_stays_empty(tmp_path: Path) -> None:
    done = feedmill("doctor", cwd=tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Machine\n  ok   Python ")
    assert done.stdout.endswith("Errors: 0. Warnings: 0.\n")
    assert list(tmp_path.iterdir()) == []


def test_it_changes_nothing_in_an_installation(tmp_path: Path) -> None:
    feedmill("user", "add", "alice", cwd=tmp_path, typed="correct horse\n")
    before = _files(tmp_path)

    done = feedmill("doctor", cwd=tmp_path)

    assert done.returncode == 0
    assert _files(tmp_path) == before


def _files(folder: Path) -> dict[str, bytes]:
    """Every file with its bytes, but for SQLite's own log and its counter of changes in the header."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.suffix not in (".db-wal", ".db-shm")]
    return {str(path): b"" if path.name == "feedmill.db" else path.read_bytes() for path in files}


def test_each_fault_is_reported_with_what_helps_and_no_password(tmp_path: Path, redis_service: Service) -> None:
    (tmp_path / "a-file").touch(mode=0o600)
    settings = {
        "database": f"mysql://alice:hunter2@127.0.0.1:{free_port()}/feedmill",
        "objects": str(tmp_path / "a-file"),
        "redis": f"redis://:hunter3@127.0.0.1:{free_port()}",
    }

    done = feedmill("doctor", "--json", cwd=tmp_path, settings=settings)
    sound = feedmill("doctor", "--json", cwd=tmp_path, settings={"redis": redis_service.url})

    report = json.loads(done.stdout)
    failed = {each["code"]: each["section"] for each in report["findings"] if each["severity"] == "error"}
    assert (done.returncode, report["ok"]) == (1, False)
    assert failed == {"objects_unusable": "storage", "database_unusable": "database", "redis_unusable": "processes"}
    assert all(each["help"] for each in report["findings"] if each["severity"] == "error")
    assert "hunter" not in done.stdout + done.stderr
    assert "redis_ok" in {each["code"] for each in json.loads(sound.stdout)["findings"]}


def test_as_json_it_has_no_control_characters(tmp_path: Path) -> None:
    folder = "a\x9b2Jb\u202ec"

    done = feedmill("--data", folder, "doctor", "--json", cwd=tmp_path)

    assert {sign for sign in done.stdout if not sign.isprintable()} == {"\n"}
    [text] = [each["text"] for each in json.loads(done.stdout)["findings"] if each["code"] == "data_new"]
    assert folder in text


def test_an_invalid_setting_is_a_fault_of_its_part(tmp_path: Path) -> None:
    done = feedmill("doctor", cwd=tmp_path, settings={"database": "oracle://host", "redis": "not-a-url"})
    no_file = feedmill("doctor", cwd=tmp_path, settings={"database": "sqlite://feedmill.db"})

    assert done.returncode == 1
    assert "FAIL this could not be checked: database: oracle://" in done.stdout
    assert "FAIL Redis can't be used" in done.stdout
    assert done.stderr == ""
    assert "FAIL this could not be checked: database: a SQLite URL looks like sqlite:///" in no_file.stdout


def test_it_speaks_the_language_of_the_terminal(tmp_path: Path) -> None:
    done = feedmill("doctor", cwd=tmp_path, LC_ALL="zh_CN.UTF-8")
    plain = feedmill("doctor", cwd=tmp_path, LC_ALL="C")

    assert done.stdout.startswith("机器\n")
    assert done.stdout.endswith("错误：0。警告：0。\n")
    assert plain.stdout.startswith("Machine\n")


async def test_on_a_terminal_it_is_readable_too(cli: CommandLine) -> None:
    shown = await cli.on_terminal("doctor", columns=100)

    assert "ok   Python" in shown
    assert "Errors: 0." in shown
