"""Drives newsboat: without its interface by `-x`, and in a terminal by keys; what it knows is read from its cache."""

import os
import re
import sqlite3
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.services.newsboat import Newsboat
from tests.services.terminal import Terminal, terminal

STAR_FLAG = "s"
# What the first line of each window says.
FEEDS, ARTICLES, ARTICLE = "List of feeds", "Articles of", "Reading"
TITLES = {
    "feedlist-title-format": FEEDS,
    "articlelist-title-format": f"{ARTICLES} %T",
    "itemview-title-format": f"{ARTICLE} %T",
}


@dataclass(frozen=True)
class NewsboatReader:
    """An installation with a home of its own."""

    newsboat: Newsboat
    home: Path

    def configure(self, settings: Mapping[str, str]) -> None:
        files = self.home / ".newsboat"
        files.mkdir(parents=True)
        lines = [f'{name} "{value}"\n' for name, value in {**TITLES, **settings}.items()]
        (files / "config").write_text("".join(lines), "utf-8")

    def execute(self, *commands: str) -> str:
        """Runs commands without the interface; returns what newsboat prints."""
        run = [*self.newsboat.command, "-x", *commands]
        done = subprocess.run(run, env=self._environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def titles(self, *, unread: bool | None = None) -> set[str]:
        """The titles of the articles in its cache, or of those in this state."""
        query = "SELECT title FROM rss_item WHERE (? IS NULL OR unread = ?)"
        cache = f"file:{self.home}/.newsboat/cache.db?mode=ro"
        with closing(sqlite3.connect(cache, uri=True, timeout=60)) as database:
            return {title for (title,) in database.execute(query, (unread, unread))}

    @contextmanager
    def interface(self) -> Iterator["NewsboatInterface"]:
        """The running program for the block, with its list of feeds; at the end it quits by itself."""
        with terminal(self.newsboat.command, self._environment) as opened:
            opened.wait_for(FEEDS)
            yield NewsboatInterface(opened)
            opened.press("Q")
            # Then all is saved. Version 2.36 sometimes crashes after it, when it frees its memory.
            opened.wait_for_end("Cleaning up cache...done.")

    @property
    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "screen"}


@dataclass(frozen=True)
class NewsboatInterface:
    """What a person does with keys, beginning in the list of feeds."""

    terminal: Terminal

    def reload(self, shown: str) -> None:
        """Reloads the subscriptions and all articles, until the list has a line with this text."""
        self.terminal.press("C-r", "R")
        self._number_of(shown)

    def mark_all_read(self) -> None:
        self.terminal.press("C")
        self.terminal.wait_for("Do you really want to mark all feeds as read")
        self.terminal.press("y")

    def mark_feed_read(self, title: str) -> None:
        self._select(title)
        self.terminal.press("A")

    @contextmanager
    def feed(self, title: str) -> Iterator[None]:
        """Opens the list of articles of a feed, for the block."""
        self._select(title)
        self.terminal.press("Enter")
        self.terminal.wait_for(f"{ARTICLES} {title}")
        yield
        self.terminal.press("q")
        self.terminal.wait_for(FEEDS)

    def read(self, title: str) -> None:
        """Opens an article of the list, and goes back."""
        self._select(title)
        self.terminal.press("Enter")
        self.terminal.wait_for(f"{ARTICLE} {title}")
        self.terminal.press("q")
        self.terminal.wait_for(ARTICLES)

    def toggle_read(self, title: str) -> None:
        self._select(title)
        self.terminal.press("N")

    def flag(self, title: str) -> None:
        self._edit_flags(title, STAR_FLAG)

    def remove_flag(self, title: str) -> None:
        self._edit_flags(title, "BSpace")

    def _edit_flags(self, title: str, key: str) -> None:
        self._select(title)
        self.terminal.press("C-e")
        self.terminal.wait_for("Flags:")
        self.terminal.press(key, "Enter")
        self.terminal.wait_for("Flags updated.")

    def _select(self, title: str) -> None:
        """Selects the line of a list that has this title."""
        self.terminal.press(*self._number_of(title), "Enter")

    def _number_of(self, title: str) -> str:
        """The number of the line, once it is on the screen."""
        return self.terminal.find(rf"^ *(\d+) .*{re.escape(title)}")[1]
