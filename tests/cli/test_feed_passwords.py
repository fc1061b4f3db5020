"""Passwords of feeds: sent to the server, and readable in no file without the key."""

import gzip
import json
from base64 import b64encode
from pathlib import Path

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer, ReceivedRequest

PASSWORD = "correct-horse-7391"
BASIC = f"Basic {b64encode(f'alice:{PASSWORD}'.encode()).decode()}"


def locked(seen: ReceivedRequest) -> Answer:
    if seen.headers.get("authorization") != BASIC:
        return Answer(status=401)
    return answer(item("a"), title="Locked", headers={"ETag": '"1"'})


async def add_locked(cli: CommandLine) -> str:
    url = cli.web.serve("/locked", locked)
    await cli.ok("add", url.replace("://", f"://alice:{PASSWORD}@"))
    return url


def files_with_password(folder: Path) -> list[str]:
    words = (PASSWORD.encode(), b64encode(f"alice:{PASSWORD}".encode()))
    found = [path for path in folder.rglob("*") if path.is_file()]
    assert found
    return [path.name for path in found if any(word in content(path) for word in words)]


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


async def test_no_file_of_the_database_or_of_a_backup_holds_a_password(cli: CommandLine) -> None:
    await add_locked(cli)
    await cli.run("backup", "--with-objects", "copy")
    await cli.run("backup", "--portable", "text")

    assert files_with_password(cli.folder) == []
    refreshed = await cli.ok("refresh", "1", "--json")
    assert refreshed.records[-1]["failed"] == 0
    assert cli.web.seen("/locked")[-1].headers["authorization"] == BASIC


async def test_a_backup_warns_that_the_key_must_be_kept_too(cli: CommandLine) -> None:
    await add_locked(cli)
    key = cli.folder / "data" / "secret.key"

    done = await cli.run("backup", "copy")

    manifest = json.loads((cli.folder / "copy" / "manifest.json").read_text())
    assert done.err == f"1 feed has a login that is encrypted with a key which is not in the backup: keep {key} too\n"
    assert (manifest["encrypted_feeds"], manifest["key_location"]) == (1, str(key))
    assert not list((cli.folder / "copy").rglob("secret.key"))


async def test_a_backup_restored_without_the_key_names_the_feeds_that_need_their_password(
    cli: CommandLine,
) -> None:
    url = await add_locked(cli)
    await cli.run("backup", "copy")
    key = (cli.folder / "data" / "secret.key").read_text().strip()

    without = await cli.run("--data", "second", "backup", "--restore", "copy")
    with_key = await cli.run("--data", "third", "--set", f"secret_key={key}", "backup", "--restore", "copy")

    assert without.code == with_key.code == 0
    needs = f"needs its password again, or the secret key from when the backup was made: {url}\n"
    assert (needs in without.err, needs in with_key.err) == (True, False)


async def test_a_feed_whose_key_is_missing_is_not_blamed_and_the_others_continue(cli: CommandLine) -> None:
    await add_locked(cli)
    await cli.ok("add", cli.web.serve("/open", answer(item("b"), title="Open")))
    (cli.folder / "data" / "secret.key").unlink()
    asked = len(cli.web.seen("/locked"))

    await cli.run("refresh", "--all", "--json")

    feeds = {feed["title"]: feed for feed in (await cli.ok("feeds", "--json")).records}
    assert (feeds["Locked"]["consecutive_failures"], feeds["Locked"]["last_error"]) == (0, None)
    assert "secret_key" in feeds["Locked"]["next_fetch_why"]
    assert len(cli.web.seen("/locked")) == asked
    assert len(cli.web.seen("/open")) == 2
    assert not (cli.folder / "data" / "secret.key").exists()


async def test_a_check_reports_whether_the_key_decrypts_the_passwords(cli: CommandLine) -> None:
    await add_locked(cli)
    key = cli.folder / "data" / "secret.key"

    sound = await cli.run("doctor")
    key.write_text("0123456789abcdef" * 4)
    unsound = await cli.run("doctor")

    assert "ok   the secret key decrypts what is encrypted\n" in sound.out
    assert unsound.code == 1
    assert "FAIL 1 feed has a login that the secret key does not decrypt" in unsound.out
    assert f"-> put the right key into {key}," in unsound.out
