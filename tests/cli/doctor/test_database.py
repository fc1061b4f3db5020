"""Findings about the database and what is encrypted in it."""

from dataclasses import replace
from pathlib import Path
from secrets import token_hex

import pytest

from feedmill.cli.doctor import database
from feedmill.encryption import Encryption
from feedmill.i18n.translator import Translator
from feedmill.optional_imports import MissingExtra
from feedmill.setting_fields import SecretStr
from feedmill.settings import Settings
from feedmill.store.admin.database_check import PROBE
from feedmill.store.database import Database
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.instance_state import read_instance_value
from feedmill.store.schema import totp_secrets
from tests.cli.doctor.findings_of import NOW, findings_of, insert, is_error, is_warning
from tests.services.server import free_port


async def test_a_database_that_works_is_fine_and_nothing_stays_in_it(settings: Settings, db: Database) -> None:
    found = await findings_of(settings)

    assert {"database_ok", "secrets_ok"} <= found.keys()
    assert await read_instance_value(db, PROBE) is None


async def test_no_database_is_fine_and_none_is_created(settings: Settings) -> None:
    assert "database_new" in await findings_of(settings)
    assert not settings.data.exists()


async def test_an_empty_database_needs_its_migrations(settings: Settings) -> None:
    settings.data.mkdir()
    (settings.data / "feedmill.db").touch(mode=0o600)

    assert is_warning(await findings_of(settings), "migrations_waiting", "feedmill migrate")


async def test_a_server_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    url = f"postgresql://alice@127.0.0.1:{free_port()}/feedmill"

    assert is_error(await findings_of(Settings(data=tmp_path, database=url)), "database_unusable")


@pytest.mark.parametrize("bytes_of_file", [b"no database at all", None])
async def test_a_file_that_is_no_database_asks_for_a_backup(
    settings: Settings, db: Database, bytes_of_file: bytes | None
) -> None:
    path = settings.data / "feedmill.db"
    path.write_bytes(path.read_bytes()[:50_000] if bytes_of_file is None else bytes_of_file)

    found = await findings_of(settings)

    assert is_error(found, "database_unusable", "feedmill --data NEW backup --restore")
    assert "server" not in str(found["database_unusable"].remedy)


async def test_a_database_of_a_newer_version_is_an_error(settings: Settings, db: Database) -> None:
    await db.exec("UPDATE migrations SET version = 9999 WHERE version = (SELECT max(version) FROM migrations)")

    assert is_error(await findings_of(settings), "database_newer", "feedmill backup --restore")


async def test_a_missing_table_is_an_error(settings: Settings, db: Database) -> None:
    await db.exec("DROP TABLE tombstones")

    assert is_error(await findings_of(settings), "tables_missing", "tombstones", "feedmill backup --restore")


async def test_a_database_that_takes_no_writes_is_an_error(settings: Settings, db: Database) -> None:
    await db.exec("CREATE TRIGGER refuse BEFORE INSERT ON instance_state BEGIN SELECT RAISE(ABORT, 'no'); END")

    assert is_error(await findings_of(settings), "database_not_writable", "read-only")


async def test_an_adapter_that_is_not_installed_names_its_extra(
    settings: Settings, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacks_library(settings: Settings) -> Database:
        raise MissingExtra("this needs asyncpg, which is not installed: pip install 'feedmill[postgres]'")

    monkeypatch.setattr(database, "open_database", lacks_library)

    assert is_error(await findings_of(settings), "extra_missing", "feedmill[postgres]")


async def test_secrets_that_the_key_does_not_decrypt_are_errors(settings: Settings, db: Database) -> None:
    other = Encryption.of(Settings(data=settings.data, secret_key=SecretStr(token_hex(32))))
    feed = await add_feed(db, "https://example.org/feed", NOW)
    login = other.encrypt("secret", database.ENCRYPTION_PURPOSE)
    await db.exec(f"UPDATE feeds SET http_options = '{login.value}' WHERE id = {feed.id}")
    secret = other.encrypt("secret", database.SECOND_FACTOR_PURPOSE)
    await insert(db, totp_secrets, user_id=1, secret=secret.value, last_step=0)

    found = await findings_of(settings)

    assert is_error(found, "logins_unreadable", "1 feed", "old_secret_keys")
    assert is_error(found, "second_factors_unreadable", "1 user", "two-factor-off")


async def test_the_place_of_the_key_is_named_in_the_language_of_the_reader(settings: Settings, db: Database) -> None:
    other = Encryption.of(Settings(data=settings.data, secret_key=SecretStr(token_hex(32))))
    feed = await add_feed(db, "https://example.org/feed", NOW)
    login = other.encrypt("secret", database.ENCRYPTION_PURPOSE)
    await db.exec(f"UPDATE feeds SET http_options = '{login.value}' WHERE id = {feed.id}")

    in_file = (await findings_of(settings))["logins_unreadable"].remedy
    in_setting = (await findings_of(replace(settings, secret_key=SecretStr(token_hex(32)))))["logins_unreadable"].remedy

    assert in_file is not None
    assert str(settings.data / "secret.key") in str(in_file)
    assert in_setting is not None
    assert "the setting secret_key" in str(in_setting)
    assert "设置项 secret_key" in Translator("zh_CN").render(in_setting)


async def test_a_key_that_is_none_is_an_error(settings: Settings, db: Database) -> None:
    (settings.data / "secret.key").write_text("short")

    assert is_error(await findings_of(settings), "secret_key_invalid", "openssl rand -hex 32")
