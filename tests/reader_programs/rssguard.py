"""Drives RSS Guard by keys; what it knows is read from its database."""

import base64
import hashlib
import json
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.reader_programs.conftest import ReadingServer
from tests.services.desktop import Desktop
from tests.services.desktop_readers import DesktopReader
from tests.waiting import wait_until

# What it prints.
FETCH_BEGINS, FETCH_ENDS = "Starting feed updates", "Finished feed updates"
# A key has no effect as long as the program is busy, so it is pressed again.
SECONDS_BETWEEN_PRESSES = 10
# Without the sandbox, which root can't have.
ENVIRONMENT = {"QT_QPA_PLATFORM": "xcb", "QTWEBENGINE_DISABLE_SANDBOX": "1"}
FETCH, MARK_ALL_READ, NEXT_FEED, NEXT_ARTICLE, STAR = "F2", "F3", "F4", "F5", "F6"
# The first entry of the first account in the menu "Accounts": "Synchronize folders & other items".
LOAD_FEEDS = ("alt+a", "Right", "Return")
# Its own number for FreshRSS, whose path it adds to the address.
FRESHRSS = 1
SETTINGS = f"""\
[main]
first_run=false
first_run_{{version}}=false
update_on_start=false
language=en
[gui]
enable_notifications=false
use_tray_icon=false
[messages]
enable_message_preview=false
[proxy]
proxy_type=3
host=127.0.0.1
port={{port}}
[keyboard]
m_actionUpdateAllItems={FETCH}
m_actionMarkAllItemsRead={MARK_ALL_READ}
m_actionSelectNextItem={NEXT_FEED}
m_actionSelectNextMessage={NEXT_ARTICLE}
m_actionSwitchImportanceOfSelectedMessages={STAR}
"""
# The key of the passwords in its database.
PASSWORD_KEY = 1
COMPRESSED_AND_HASHED = bytes([3, 1 | 4])


@dataclass(frozen=True)
class RssGuard:
    desktop: Desktop

    def titles(self, *, read: bool | None = None, starred: bool | None = None) -> set[str]:
        """The titles of its articles, or of those in this state."""
        query = (
            "SELECT title FROM Messages WHERE (:read IS NULL OR is_read = :read)"
            " AND (:starred IS NULL OR is_important = :starred)"
        )
        return {title for (title,) in self._rows(query, {"read": read, "starred": starred})}

    def folders(self) -> dict[str, str]:
        """The folder of each feed by its title; empty for none."""
        query = (
            "SELECT Feeds.title, coalesce(Categories.title, '') FROM Feeds"
            " LEFT JOIN Categories ON Categories.id = Feeds.category"
        )
        return dict(self._rows(query))

    def fetch_until(self, is_so: Callable[[], bool]) -> None:
        """Fetches articles, which also sends what was marked here, and waits for the end of it."""
        fetches = self.desktop.log().count(FETCH_ENDS)

        def is_done() -> bool:
            log = self.desktop.log()
            return fetches < log.count(FETCH_ENDS) == log.count(FETCH_BEGINS) and is_so()

        self.press_until((FETCH,), is_done)

    def press_until(self, keys: tuple[str, ...], is_so: Callable[[], bool]) -> None:
        """Presses the keys, one after the other, and again if what is expected does not happen."""
        pressed_at = float("-inf")

        def is_so_or_press() -> bool:
            nonlocal pressed_at
            if is_so():
                return True
            if time.monotonic() > pressed_at + SECONDS_BETWEEN_PRESSES:
                self.desktop.press(*keys)
                pressed_at = time.monotonic()
            return False

        wait_until(is_so_or_press, otherwise=f"{keys} had no effect")

    def is_ready(self) -> bool:
        """Whether it has created its tables, of which this is the last."""
        query = "SELECT 1 FROM sqlite_master WHERE name = 'LabelsInMessages'"
        return self._database.exists() and bool(self._rows(query))

    def add_account(self, server: ReadingServer) -> None:
        """Adds an account to the database of the program, which does not run."""
        account = {
            "service": FRESHRSS,
            "url": server.address_for("rss_guard"),
            "username": server.name,
            "password": _encrypted(server.password),
            "intelligent_synchronization": True,
        }
        query = "INSERT INTO Accounts (type, proxy_type, custom_data) VALUES ('greader', 0, :account)"
        self._rows(query, {"account": json.dumps(account)})

    @property
    def _database(self) -> Path:
        return self.desktop.home / "database" / "database.db"

    def _rows(self, query: str, values: dict[str, str | bool | None] | None = None) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self._database}?mode=rw", uri=True, timeout=60)) as database, database:
            return database.execute(query, values or {}).fetchall()


@contextmanager
def running_rssguard(program: DesktopReader, desktop: Desktop, server: ReadingServer) -> Iterator[RssGuard]:
    """RSS Guard with an account on the server, for the block. It has loaded the feeds, but no articles."""
    desktop.environment.update(ENVIRONMENT)
    settings = desktop.home / "config"
    settings.mkdir()
    (settings / "config.ini").write_text(SETTINGS.format(version=program.version, port=desktop.proxy.port))
    (settings / "key.private").write_text(str(PASSWORD_KEY))
    command = (program.path, "--data", str(desktop.home))
    rssguard = RssGuard(desktop)
    with desktop.running(*command):
        wait_until(rssguard.is_ready, otherwise="RSS Guard did not create its database")
    rssguard.add_account(server)
    with desktop.running(*command):
        desktop.focus("^RSS Guard")
        wait_until(lambda: bool(rssguard.folders()), otherwise="RSS Guard has no feeds")
        yield rssguard


def _encrypted(password: str) -> str:
    """As RSS Guard stores passwords: Qt's `qCompress`, a digest, and each byte mixed with the one before it."""
    plain = password.encode()
    packed = len(plain).to_bytes(4, "big") + zlib.compress(plain)
    key = PASSWORD_KEY.to_bytes(8, "little")
    mixed = bytearray()
    for place, byte in enumerate(b"\0" + hashlib.sha1(packed).digest() + packed):
        mixed.append(byte ^ key[place % 8] ^ (mixed[-1] if mixed else 0))
    return base64.b64encode(COMPRESSED_AND_HASHED + mixed).decode()
