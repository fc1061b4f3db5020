"""Opens the database that the settings name; imports its driver only then."""

import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from feedmill.errors import BadSetting
from feedmill.optional_imports import import_by_name
from feedmill.settings import Settings
from feedmill.store.database import Database
from feedmill.store.migrations import migrate

SUPPORTED_URLS = "sqlite:///path, postgresql://…, mysql://… and d1+https://…"

SQLITE = "feedmill.store.drivers.sqlite:SqliteDatabase"
POSTGRES = "feedmill.store.drivers.postgres:PostgresDatabase"
MYSQL = "feedmill.store.drivers.mysql:MysqlDatabase"
D1 = "feedmill.store.drivers.d1:D1Database"
SQLITE_FEATURES = "feedmill.store.drivers.sqlite_features"


@asynccontextmanager
async def open_migrated_database(settings: Settings) -> AsyncIterator[Database]:
    """Opens the database and migrates its schema; closes it at the end."""
    db = open_database(settings)
    try:
        await migrate(db)
        yield db
    finally:
        await db.close()


def open_database(settings: Settings) -> Database:
    url = settings.database_url
    scheme, separator, rest = url.partition("://")
    if not separator:
        raise BadSetting(f"database: {url!r} is not a URL; supported are {SUPPORTED_URLS}")
    if not _has_hosts(url):
        # Neither the URL nor the parser's message: they may contain a part of the password.
        hint = "write #, / and @ in a password as %23, %2F and %40"
        raise BadSetting(f"database: the host or port of the {scheme}:// URL can't be read ({hint})")
    db: Database
    match scheme:
        case "sqlite":
            db = import_by_name(SQLITE)(_sqlite_path(rest))
        case "postgresql" | "postgres":
            db = import_by_name(POSTGRES)(f"postgresql://{rest}")
        case "mysql" | "mariadb":
            db = import_by_name(MYSQL)(f"mysql://{rest}")
        case "d1+https" | "d1+http":
            most = settings.d1_statements
            db = import_by_name(D1)(url.removeprefix("d1+"), _proxy_token(settings), statements_per_batch=most)
        case _:
            raise BadSetting(f"database: {scheme}:// is not supported; supported are {SUPPORTED_URLS}")
    return db


def database_exists(settings: Settings) -> bool:
    """Whether there is something to open; only of a file can it be said that there is not.

    Where this user may not look, a file may be: opening it says why it can't be used.
    """
    file = sqlite_file(settings)
    if file is None:
        return True
    try:
        return stat.S_ISREG(file.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def sqlite_file(settings: Settings) -> Path | None:
    """The file of the SQLite database; None with another database, or if the URL names no file."""
    scheme, _, rest = settings.database_url.partition("://")
    return _path_in_url(rest) if scheme == "sqlite" and _names_file(rest) else None


def sqlite_features() -> tuple[str, bool]:
    """The version of SQLite, and whether it has full-text search."""
    features = import_by_name(SQLITE_FEATURES)
    return features.sqlite_version(), features.has_full_text_search()


def _has_hosts(url: str) -> bool:
    """Whether host and port, or those of each of several hosts, can be read."""
    try:
        hosts = urlsplit(url).netloc.rpartition("@")[2].split(",")
        return all(urlsplit(f"//{host}").port != 0 for host in hosts)
    except ValueError:
        return False


def _sqlite_path(rest: str) -> Path:
    if not _names_file(rest):
        raise BadSetting("database: a SQLite URL looks like sqlite:///folder/file.db (four slashes from the root)")
    path = _path_in_url(rest)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadSetting(f"data: the folder {path.parent} can't be created: {error.strerror}") from error
    return path


def _names_file(rest: str) -> bool:
    return rest.startswith("/") and rest != "/"


def _path_in_url(rest: str) -> Path:
    """The path that follows `sqlite://` and a slash."""
    return Path(unquote(rest[1:])).expanduser()


def _proxy_token(settings: Settings) -> str:
    token = settings.database_token.get_secret_value()
    if not token:
        raise BadSetting("database_token: the D1 proxy worker needs its token (FEEDMILL_DATABASE_TOKEN)")
    return token
