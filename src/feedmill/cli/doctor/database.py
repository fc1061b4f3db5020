"""Checks the database: it answers, has this version's schema, reads and writes, and its secrets can be decrypted."""

from collections.abc import AsyncIterator, Sequence
from secrets import token_hex

from feedmill.adapters.database import database_exists, open_database, sqlite_file
from feedmill.cli.doctor.findings import CheckContext, Finding, error, ok, warning
from feedmill.cli.doctor.owners import owner_of
from feedmill.encryption import Encryption
from feedmill.errors import BadSetting, DatabaseError
from feedmill.i18n.messages import Message, verbatim
from feedmill.library.users.second_factor import ENCRYPTION_PURPOSE as SECOND_FACTOR_PURPOSE
from feedmill.model.encrypted import Encrypted
from feedmill.optional_imports import MissingExtra
from feedmill.outbound.encrypted_options import ENCRYPTION_PURPOSE
from feedmill.secret_key import find_secret_key, key_location
from feedmill.settings import Settings
from feedmill.store.admin.database_check import missing_tables, probe_writing
from feedmill.store.admin.metrics import count_feeds_by_status
from feedmill.store.database import Database
from feedmill.store.feeds.read_feeds import feeds_with_http_options
from feedmill.store.migrations import NewerSchema, pending_migrations
from feedmill.store.users.two_factor import all_totp_secrets


async def check_database(context: CheckContext) -> AsyncIterator[Finding]:
    yield await _database(context.settings)


async def _database(settings: Settings) -> Finding:
    if not database_exists(settings):
        return ok(Message("doctor.database_new"))
    try:
        db = open_database(settings)
    except MissingExtra as problem:
        return error(Message("doctor.extra_missing", reason=problem.message), Message("doctor.extra_missing_help"))
    try:
        return await _open_database(db)
    except NewerSchema as problem:
        return error(Message("doctor.database_newer", reason=problem.message), Message("doctor.database_newer_help"))
    except DatabaseError as problem:
        return error(Message("doctor.database_unusable", reason=problem.message), _what_makes_usable(settings))
    finally:
        await db.close()


def _what_makes_usable(settings: Settings) -> Message:
    """For SQLite the owner of its file, or a backup; for others their server and the settings that lead there."""
    if file := sqlite_file(settings):
        return Message("doctor.database_file_unusable_help", user=owner_of(file), data=str(settings.data.absolute()))
    return Message("doctor.database_unusable_help")


async def _open_database(db: Database) -> Finding:
    if waiting := await pending_migrations(db):
        return warning(Message("doctor.migrations_waiting", n=len(waiting)), Message("doctor.migrations_waiting_help"))
    if missing := await missing_tables(db):
        text = Message("doctor.tables_missing", tables=", ".join(missing))
        return error(text, Message("doctor.tables_missing_help"))
    try:
        await probe_writing(db, token_hex(8))
    except DatabaseError as problem:
        text = Message("doctor.database_not_writable", reason=problem.message)
        return error(text, Message("doctor.database_not_writable_help"))
    feeds = sum((await count_feeds_by_status(db)).by_status.values())
    return ok(Message("doctor.database_ok", kind=db.dialect_name, n=feeds))


async def check_secrets(context: CheckContext) -> AsyncIterator[Finding]:
    """Whether the logins of feeds and the secrets of second factors can be decrypted."""
    if context.db is None:
        return
    try:
        find_secret_key(context.settings)
    except BadSetting as problem:
        yield error(
            Message("doctor.secret_key_invalid", reason=problem.message), Message("doctor.secret_key_invalid_help")
        )
        return
    encryption, key = Encryption.of(context.settings), _place_of_key(context.settings)
    for finding in await _unreadable_secrets(context.db, encryption, key):
        yield finding


def _place_of_key(settings: Settings) -> Message:
    is_setting = bool(settings.secret_key.get_secret_value())
    return Message("doctor.secret_key_setting") if is_setting else verbatim(key_location(settings))


async def _unreadable_secrets(db: Database, encryption: Encryption, key: Message) -> list[Finding]:
    logins = [feed.http_options for feed in await feeds_with_http_options(db) if feed.http_options]
    found = []
    if n := _unreadable(encryption, await all_totp_secrets(db), SECOND_FACTOR_PURPOSE):
        text = Message("doctor.second_factors_unreadable", n=n)
        found.append(error(text, Message("doctor.second_factors_unreadable_help", key=key)))
    if n := _unreadable(encryption, logins, ENCRYPTION_PURPOSE):
        found.append(error(Message("doctor.logins_unreadable", n=n), Message("doctor.logins_unreadable_help", key=key)))
    return found or [ok(Message("doctor.secrets_ok"))]


def _unreadable(encryption: Encryption, secrets: Sequence[Encrypted], purpose: str) -> int:
    """How many of the secrets can't be decrypted."""
    return sum(1 for secret in secrets if not encryption.can_decrypt(secret, purpose))
