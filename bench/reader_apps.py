"""Benchmarks what reader apps ask for in a synchronization, over HTTP, against bare SQL statements.

    python bench/reader_apps.py [--entries 100000] [--feeds 200] [--databases sqlite,postgresql] [--rounds 5]

A `feedmill serve` in its own process answers through Google Reader's API, Fever, Miniflux's API and its own, to a user
with half of all entries unread. Each figure is the lower quartile of the rounds, in milliseconds, with everything that
an app waits for: its password is checked, JSON is written and sent. Where an API takes fewer entries in one request, it
is the time of all requests one after the other. The bare statements run in this process, on their own connection;
texts of entries are made safe one after the other in a loop, as ours are.
"""

import argparse
import hashlib
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp
import uvloop
from library_load import DATABASES, load_once, reader
from report import Cell, Table, report_table
from sqlalchemy import text

from feedmill.html.sanitize import render_article_html
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.library.users.app_passwords import create_app_password
from feedmill.model.user import SCOPES, Caller, User
from feedmill.store.database import Database, Step
from feedmill.store.dialect import as_list, insert
from feedmill.store.entries.fill_unread_list import fill_unread_list
from feedmill.store.entries.undo_mark_all_read import restore_retired_list
from feedmill.store.schema import feeds, folder_subscriptions, users
from feedmill.store.users.api_keys import add_api_key
from tests.cli.new_interpreter import serving

CONTENTS = MARKED = 1000
FEVER_ITEMS, OWN_ITEMS = 50, 200
ONE_BY_ONE = 50
NAME, API_KEY = "alice", "fm_bench"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
READ = "user/-/state/com.google/read"
READING_LIST = "user/-/state/com.google/reading-list"
APIS = ("Google Reader", "Fever", "Miniflux", "Feedmill")

Work = Callable[[], Awaitable[Any]]

# --- the bare statements -----------------------------------------------------------------------------------

_LISTED = {"sqlite": "json_each(:ids)", "postgresql": "json_array_elements_text(CAST(:ids AS json))"}


class BareStatements:
    """The statements that somebody would write by hand who knows the tables."""

    def __init__(self, db: Database, user: User) -> None:
        self.db, self.user = db, user
        named = f"(SELECT CAST(value AS bigint) FROM {_LISTED[db.dialect_name]})"
        self._unread = text("SELECT entry_id FROM unread WHERE list_id = :list ORDER BY entry_id DESC")
        self._contents = text(
            "SELECT e.id, e.guid, e.title, e.link, e.author, e.published_at, e.first_seen_at, e.base_url, "
            "e.enclosures, e.content_html, s.id AS subscription_id, st.read_at, st.starred_at FROM entries e "
            "JOIN subscriptions s ON s.feed_id = e.feed_id AND s.user_id = :of_user "
            f"LEFT JOIN states st ON st.user_id = :of_user AND st.entry_id = e.id WHERE e.id IN {named}"
        )
        self._move = text("UPDATE unread SET list_id = :to WHERE list_id = :list")
        self._forget = text("UPDATE subscriptions SET unread_count = 0 WHERE user_id = :of_user")
        self._insert = text(
            "INSERT INTO states (user_id, entry_id, read_at, changed_at) "
            f"SELECT :of_user, id, :at, :at FROM entries WHERE id IN {named}"
        )
        self._drop = text(
            "DELETE FROM unread WHERE list_id = :list AND (sort_at, entry_id) IN "
            f"(SELECT sort_at, id FROM entries WHERE id IN {named})"
        )
        self._count = text(
            "UPDATE subscriptions SET unread_count = unread_count - (SELECT count(*) FROM entries e "
            f"WHERE e.feed_id = subscriptions.feed_id AND e.id IN {named}) WHERE user_id = :of_user"
        )

    async def unread_ids(self) -> None:
        await self.db.query(self._unread, {"list": self.user.unread_list_id})

    async def contents(self, ids: Sequence[int]) -> None:
        for row in await self.db.query(self._contents, {"of_user": self.user.id, "ids": as_list(list(ids))}):
            render_article_html(row["content_html"], row["base_url"], {})

    async def mark_all(self, list_id: int) -> None:
        """Takes every entry out of the list by itself."""
        params = {"of_user": self.user.id, "list": list_id, "to": -list_id}
        await self.db.batch([Step(self._forget, params), Step(self._move, params)])

    async def mark(self, ids: Sequence[int], list_id: int) -> None:
        at = "2026-02-18T08:30:00.000Z"
        params = {"of_user": self.user.id, "list": list_id, "ids": as_list(list(ids)), "at": at}
        await self.db.batch([Step(self._count, params), Step(self._insert, params), Step(self._drop, params)])


# --- the apps ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Apps:
    """One user's apps, each of them signed in."""

    http: aiohttp.ClientSession
    password: str
    token: str

    async def send(self, method: str, path: str, body: str | None = None, **headers: str) -> bytes:
        async with self.http.request(method, path, data=body, headers=headers) as response:
            content = await response.read()
            assert response.status < 300, (path, response.status, content[:300])
            return content

    async def greader(self, method: str, path: str, body: str | None = None) -> bytes:
        return await self.send(
            method, f"/reader/api/0/{path}", body, Authorization=f"GoogleLogin auth={self.token}", **FORM
        )

    async def fever(self, query: str) -> bytes:
        key = hashlib.md5(f"{NAME}:{self.password}".encode(), usedforsecurity=False).hexdigest()
        return await self.send("POST", f"/fever/?api&{query}", f"api_key={key}", **FORM)

    async def miniflux(self, method: str, path: str, body: str | None = None) -> bytes:
        return await self.send(method, f"/v1/{path}", body, **{"X-Auth-Token": self.password})

    async def own(self, method: str, path: str, body: str | None = None) -> bytes:
        headers = {"Authorization": f"Bearer {API_KEY}", "Content-Type": "application/json"}
        return await self.send(method, f"/api/{path}", body, **headers)

    def unread_ids(self, count: int) -> list[Work]:
        return [
            partial(self.greader, "GET", f"stream/items/ids?s={READING_LIST}&xt={READ}&n={count}&output=json"),
            partial(self.fever, "unread_item_ids"),
            partial(self.miniflux, "GET", "entries/ids?status=unread"),
            partial(self.own, "GET", "entries/ids?view=unread"),
        ]

    def contents(self, ids: Sequence[int]) -> list[Work]:
        fever = [partial(self.fever, f"items&with_ids={_commas(part)}") for part in _parts(ids, FEVER_ITEMS)]
        own = [partial(self.own, "GET", f"entries/texts?ids={_commas(part)}") for part in _parts(ids, OWN_ITEMS)]
        return [
            partial(self.greader, "POST", "stream/items/contents", "&".join(f"i={10**15 + id}" for id in ids)),
            partial(one_after_another, fever),
            partial(self.miniflux, "GET", f"entries?limit={len(ids)}&direction=desc"),
            partial(one_after_another, own),
        ]

    def mark_all(self, at: datetime) -> list[Work]:
        seconds = int(at.timestamp())
        return [
            partial(self.greader, "POST", "mark-all-as-read", f"s={READING_LIST}&ts={seconds}000000"),
            partial(self.fever, f"mark=group&as=read&id=0&before={seconds}"),
            partial(self.miniflux, "PUT", "users/1/mark-all-as-read"),
            partial(self.own, "POST", "entries/mark-all", '{"everything": true}'),
        ]

    def mark(self, ids: Sequence[int], state: str) -> list[Work]:
        """Marks these entries as read or unread; Fever marks one entry in a request."""
        tag = "a" if state == "read" else "r"
        listed, is_read = as_list(list(ids)), str(state == "read").lower()
        return [
            partial(self.greader, "POST", "edit-tag", "&".join([*(f"i={10**15 + id}" for id in ids), f"{tag}={READ}"])),
            partial(one_after_another, [partial(self.fever, f"mark=item&as={state}&id={id}") for id in ids]),
            partial(self.miniflux, "PUT", "entries", f'{{"entry_ids": {listed}, "status": "{state}"}}'),
            partial(self.own, "POST", "entries/mark", f'{{"ids": {listed}, "read": {is_read}}}'),
        ]

    def mark_one_by_one(self, ids: Sequence[int]) -> list[Work]:
        each = [self.mark([id], "read") for id in ids]
        return [partial(one_after_another, requests) for requests in zip(*each, strict=True)]


def _commas(ids: Sequence[int]) -> str:
    return ",".join(map(str, ids))


def _parts(ids: Sequence[int], size: int) -> list[Sequence[int]]:
    return [ids[start : start + size] for start in range(0, len(ids), size)]


async def one_after_another(requests: Sequence[Work]) -> None:
    for request in requests:
        await request()


# --- measuring ---------------------------------------------------------------------------------------------


class Bench:
    """The measurements of one database."""

    def __init__(self, db: Database, user: User, apps: Apps, rounds: int) -> None:
        self.db, self.user, self.apps, self.rounds = db, user, apps, rounds
        self.bare = BareStatements(db, user)
        self.rows: list[list[Cell]] = []

    async def run(self) -> list[list[Cell]]:
        unread = await self._ids("SELECT entry_id AS id FROM unread WHERE list_id = :list ORDER BY id DESC")
        newest = unread[:CONTENTS]
        await self.measure(f"{len(unread):,} unread ids", self.bare.unread_ids, self.apps.unread_ids(len(unread)))
        await self.measure(f"{len(newest):,} contents", partial(self.bare.contents, newest), self.apps.contents(newest))
        await self.mark(unread[:MARKED])
        await self.mark_all()
        return self.rows

    async def mark(self, ids: Sequence[int]) -> None:
        list_id, few = self.user.unread_list_id, ids[:ONE_BY_ONE]
        # The bare statements insert the states.
        restore = {"before_bare": partial(self._forget_states, ids), "after": self.apps.mark(ids, "unread")[-1]}
        greader, _, miniflux, own = self.apps.mark(ids, "read")
        bare_mark = partial(self.bare.mark, ids, list_id)
        await self.measure(f"{len(ids):,} marked read", bare_mark, [greader, None, miniflux, own], **restore)
        bare = [partial(self.bare.mark, [id], list_id) for id in few]
        await self.measure(
            f"{len(few)} marked read, one by one",
            partial(one_after_another, bare),
            self.apps.mark_one_by_one(few),
            **restore,
        )

    async def mark_all(self) -> None:
        await fill_unread_list(self.db, self.user.id)
        [total] = await self.db.query(text("SELECT sum(unread_count) AS n FROM subscriptions WHERE user_id = 1"))
        # As apps do: up to the time at which they last looked.
        works = self.apps.mark_all(datetime.now(UTC))
        await self.measure(f"all {int(total['n']):,} marked read", self._bare_mark_all, works, after=self._restore_all)

    async def measure(
        self,
        name: str,
        bare: Work,
        apps: Sequence[Work | None],
        before_bare: Work | None = None,
        after: Work | None = None,
    ) -> None:
        """Alternately, so that other load slows all of them; `after` restores what a request changed."""
        taken: list[list[float]] = [[] for _ in (bare, *apps)]
        for _ in range(self.rounds):
            if before_bare:
                await before_bare()
            for work, times in zip((bare, *apps), taken, strict=True):
                if work is None:
                    continue
                started = time.perf_counter()
                await work()
                times.append((time.perf_counter() - started) * 1000)
                if after:
                    await after()
        bare_ms, *app_ms = (quantiles(times, n=4)[0] if times else None for times in taken)
        slowest = max(ms for ms in app_ms if ms is not None)
        assert bare_ms is not None
        self.rows.append([name, bare_ms, *("" if ms is None else ms for ms in app_ms), slowest / bare_ms])

    async def _ids(self, query: str) -> list[int]:
        return [row["id"] for row in await self.db.query(text(query), {"list": self.user.unread_list_id})]

    async def _forget_states(self, ids: Sequence[int]) -> None:
        listed = ",".join(map(str, ids))
        await self.db.batch([Step(text(f"DELETE FROM states WHERE entry_id IN ({listed})"))])

    async def _bare_mark_all(self) -> None:
        await self.bare.mark_all(await self._current_list())

    async def _current_list(self) -> int:
        [row] = await self.db.query(text("SELECT unread_list_id AS id FROM users WHERE id = 1"))
        return int(row["id"])

    async def _restore_all(self) -> None:
        retired = "SELECT token FROM unread_lists WHERE retired_at IS NOT NULL AND token IS NOT NULL"
        for row in await self.db.query(text(retired)):
            await restore_retired_list(self.db, self.user.id, row["token"], datetime.now(UTC))
        moved = {"list": -(current := await self._current_list()), "to": current}
        await self.db.batch([Step(text("UPDATE unread SET list_id = :to WHERE list_id = :list"), moved)])


async def prepare(db: Database, folder: Path, arguments: argparse.Namespace) -> tuple[User, str]:
    """Loads the library, whose feeds are never due, and gives the user an app password and an API key."""
    await load_once(db, folder, arguments.entries, arguments.feeds)
    found, subscribed = await reader(db)
    user = replace(found, name=NAME)
    rename = users.update().where(users.c.id == user.id).values(name=NAME)
    await db.batch([Step(feeds.update().values(next_fetch_at=None)), Step(rename)])
    await add_folders(db, user, subscribed)
    now = datetime.now(UTC)
    password, _ = await create_app_password(db, Caller(user, user.scopes), "bench", now, allows_fever=True)
    await add_api_key(db, user.id, "bench", API_KEY, SCOPES, now)
    return user, password


async def add_folders(db: Database, user: User, subscribed: Sequence[int]) -> None:
    """A folder for every ten feeds."""
    paths = [(f"Folder {place // 10}",) for place in range(len(subscribed))]
    made = await ensure_folders(db, user.id, paths)
    rows = [{"folder_id": made[path], "subscription_id": id} for path, id in zip(paths, subscribed, strict=True)]
    await db.batch([Step(insert(folder_subscriptions, "folder_id", "subscription_id"), rows)])


async def sign_in(http: aiohttp.ClientSession, password: str) -> Apps:
    async with http.post("/accounts/ClientLogin", data={"Email": NAME, "Passwd": password}) as response:
        answer = await response.text()
        assert response.status == 200, answer
        fields = dict(line.split("=") for line in answer.splitlines())
    apps = Apps(http, password, fields["Auth"])
    # The server builds its own API at the first request.
    await one_after_another(apps.unread_ids(1))
    return apps


@contextmanager
def database_and_settings(name: str, folder: Path) -> Iterator[tuple[Database, dict[str, str]]]:
    with DATABASES[name](folder) as db:
        url = f"sqlite:///{folder / 'library.db'}" if name == "sqlite" else db._url  # type: ignore[attr-defined]
        yield db, {"database": url, "api_per_minute": "0"}


async def main(arguments: argparse.Namespace) -> None:
    for name in arguments.databases.split(","):
        with tempfile.TemporaryDirectory() as path, database_and_settings(name, Path(path)) as (db, settings):
            user, password = await prepare(db, Path(path), arguments)
            with serving(cwd=Path(path), settings=settings) as server:
                async with aiohttp.ClientSession(server.address) as http:
                    rows = await Bench(db, user, await sign_in(http, password), arguments.rounds).run()
            await db.close()
        title = f"{name}: a synchronization, {arguments.entries:,} entries of {arguments.feeds:,} feeds, milliseconds"
        report_table(Table(title, ["", "bare", *APIS, "slowest / bare"], rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--feeds", type=int, default=200)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--rounds", type=int, default=5)
    uvloop.run(main(parser.parse_args()))
