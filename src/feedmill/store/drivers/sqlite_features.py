"""Which SQLite this Python is linked with, and whether it has full-text search."""

import sqlite3


def sqlite_version() -> str:
    return sqlite3.sqlite_version


def has_full_text_search() -> bool:
    """Whether SQLite was built with FTS5; some distributions leave it out."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True
