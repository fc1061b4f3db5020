"""The wiring picks adapters by URL, and names the setting when it can't."""

from pathlib import Path

import pytest

from feedmill.adapters.database import open_database
from feedmill.adapters.object_store import open_blobs
from feedmill.archive.files import FolderBlobs
from feedmill.archive.s3 import S3Blobs
from feedmill.errors import BadSetting
from feedmill.settings import load_settings
from feedmill.store.drivers.d1 import D1Database
from feedmill.store.drivers.mysql import MysqlDatabase
from feedmill.store.drivers.postgres import PostgresDatabase
from feedmill.store.drivers.sqlite import SqliteDatabase

DATABASES = {
    "postgresql://alice:secret@host:5432/name": PostgresDatabase,
    "postgres://host/name": PostgresDatabase,
    "postgresql://host1:5432,host2:5433/name": PostgresDatabase,
    "mysql://alice:p%40ss@host:3306/name": MysqlDatabase,
    "mariadb://host/name": MysqlDatabase,
    "d1+https://proxy.example": D1Database,
}
BAD_DATABASES = {
    "oracle://host/name": "oracle://",
    "just-words": "just-words",
    "sqlite://feedmill.db": "sqlite:///",
    "sqlite:///": "sqlite:///",
    "sqlite:////proc/nowhere/feedmill.db": "/proc/nowhere",
    "mysql://host": "mysql://user:password@host",
    "mysql://host:words/name": "host or port",
    "postgresql://host:words/name": "host or port",
    "postgresql://[::1/name": "host or port",
    "d1+https://alice:secret@proxy.example": "token",
}


@pytest.mark.parametrize("url", DATABASES)
async def test_a_url_picks_its_driver(tmp_path: Path, url: str) -> None:
    database = open_database(load_settings(data=tmp_path, database=url, database_token="token"))

    assert type(database) is DATABASES[url]
    await database.close()


async def test_the_default_is_sqlite_in_the_data_folder(tmp_path: Path) -> None:
    database = open_database(load_settings(data=tmp_path / "new" / "folder"))
    await database.exec("CREATE TABLE t (id INTEGER)")
    await database.close()

    assert type(database) is SqliteDatabase
    assert (tmp_path / "new" / "folder" / "feedmill.db").exists()


@pytest.mark.parametrize("url", BAD_DATABASES)
def test_a_database_url_that_makes_no_sense_is_named(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadSetting, match=BAD_DATABASES[url]):
        open_database(load_settings(data=tmp_path, database=url, database_token="token"))


@pytest.mark.parametrize("url", ["postgresql://alice:se#cret@host/name", "mysql://alice:se/cret@host/name"])
def test_a_password_that_breaks_the_url_is_not_shown(tmp_path: Path, url: str) -> None:
    with pytest.raises(BadSetting, match="%23") as caught:
        open_database(load_settings(data=tmp_path, database=url))

    assert "cret" not in str(caught.value)
    assert "'se" not in str(caught.value)


def test_d1_without_a_token_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="database_token"):
        open_database(load_settings(data=tmp_path, database="d1+https://proxy.example"))


def test_objects_go_to_a_folder_or_to_s3(tmp_path: Path) -> None:
    by_default = open_blobs(load_settings(data=tmp_path))
    bucket = "s3://bucket?endpoint=http://127.0.0.1:9"
    in_a_bucket = open_blobs(load_settings(objects=bucket, s3_access_key="a", s3_secret_key="b"))

    assert (type(by_default), type(in_a_bucket)) == (FolderBlobs, S3Blobs)
