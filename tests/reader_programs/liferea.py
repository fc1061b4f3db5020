"""Drives Liferea by the actions that it offers on D-Bus; what it knows is read from its database."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from tests.reader_programs.conftest import ReadingServer
from tests.services.desktop import Desktop
from tests.services.desktop_readers import DesktopReader
from tests.waiting import wait_until

BUS_NAME, APPLICATION, FEED_READER = "net.sourceforge.liferea", "/net/sourceforge/liferea", "/org/gnome/feed/Reader"
ACCOUNT = "account"
# Without the sandbox, which root can't have.
ENVIRONMENT = {
    "GSETTINGS_BACKEND": "keyfile",
    "GIO_USE_VFS": "local",
    "NO_AT_BRIDGE": "1",
    "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
}
# Liferea keeps the password here if it has no keyring.
FEED_LIST = """\
<?xml version="1.0"?>
<opml version="1.0"><head><title>Feeds</title></head><body>
<outline type="source" sourceType="fl_google_reader" id="{account}" title="Feedmill" text="Feedmill"
 xmlUrl={url} username={name} password={password} updateInterval="-1"/>
</body></opml>
"""
SETTINGS = """\
[org/gnome/liferea]
proxy-detect-mode=2
proxy-host='127.0.0.1'
proxy-port={port}
confirm-mark-all-read=false
"""


@dataclass(frozen=True)
class Liferea:
    desktop: Desktop

    def is_ready(self) -> bool:
        """Whether it has created its tables, of which this is the last."""
        query = "SELECT 1 FROM sqlite_master WHERE name = 'search_folder_items'"
        return self._database.exists() and bool(self._rows(query, {}))

    def titles(self, *, read: bool | None = None, starred: bool | None = None) -> set[str]:
        """The titles of its items, or of those in this state."""
        query = (
            "SELECT title FROM items WHERE (:read IS NULL OR read = :read) AND (:starred IS NULL OR marked = :starred)"
        )
        return {title for (title,) in self._rows(query, {"read": read, "starred": starred})}

    def folders(self) -> dict[str, str]:
        """The folder of each feed by its title; empty for none."""
        query = "SELECT title, parent_id FROM node WHERE node_id <> :account"
        rows = self._rows(query, {"account": ACCOUNT})
        return {title: "" if parent == ACCOUNT else parent.rpartition("-folder-")[2] for title, parent in rows}

    def read_next(self) -> None:
        """Shows the next unread item."""
        self._activate("next-unread-item")

    def toggle_read(self, title: str) -> None:
        self._activate("toggle-item-read-status", self._id_of(title))

    def toggle_star(self, title: str) -> None:
        self._activate("toggle-item-flag", self._id_of(title))

    def mark_all_read(self) -> None:
        self._activate("mark-all-feeds-read")

    def update(self) -> None:
        self._activate("update-all")

    def subscribe(self, url: str) -> None:
        """Subscribes in the account of the item that is shown, as `liferea --add-feed` does."""
        self._call(FEED_READER, "org.gnome.feed.Reader.Subscribe", url)

    def _activate(self, action: str, *item_ids: int) -> None:
        parameters = ", ".join(f"<uint64 {item_id}>" for item_id in item_ids)
        self._call(APPLICATION, "org.gtk.Actions.Activate", action, f"[{parameters}]", "{}")

    def _call(self, path: str, method: str, *arguments: str) -> None:
        self.desktop.run("gdbus", "call", "--session", "-d", BUS_NAME, "-o", path, "-m", method, *arguments)

    def _id_of(self, title: str) -> int:
        [(item_id,)] = self._rows("SELECT item_id FROM items WHERE title = :title", {"title": title})
        return int(item_id)

    @property
    def _database(self) -> Path:
        return self.desktop.home / ".local/share/liferea/liferea.db"

    def _rows(self, query: str, values: dict[str, str | bool | None]) -> list[Any]:
        with closing(sqlite3.connect(f"file:{self._database}?mode=rw", uri=True, timeout=60)) as database:
            return database.execute(query, values).fetchall()


@contextmanager
def running_liferea(program: DesktopReader, desktop: Desktop, server: ReadingServer) -> Iterator[Liferea]:
    """Liferea with an account on the server, for the block."""
    desktop.environment.update(ENVIRONMENT)
    account = {"url": server.address_for("liferea"), "name": server.name, "password": server.password}
    quoted = {key: quoteattr(text) for key, text in account.items()}
    _write(desktop.home / ".config/liferea/feedlist.opml", FEED_LIST.format(account=ACCOUNT, **quoted))
    _write(desktop.home / ".config/glib-2.0/settings/keyfile", SETTINGS.format(port=desktop.proxy.port))
    with desktop.running(program.path, "--disable-plugins"):
        liferea = Liferea(desktop)
        wait_until(liferea.is_ready, otherwise="Liferea did not start")
        yield liferea


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
