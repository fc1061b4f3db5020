"""A command imports what it uses and no more: a cron job pays for every import each minute."""

import asyncio
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.scripted_web import Answer, Web

pytestmark = pytest.mark.external

# Libraries of the web server, of fetching, parsing and logging, and of other databases.
SERVER = {"fastapi", "starlette", "uvicorn", "jinja2", "pydantic", "jwt"}
FETCHING = {"aiohttp", "yarl", "lxml", "nh3", "brotli", "publicsuffixlist"}
TERMINAL = {"rich", "structlog"}
# Pages write dates and numbers with it; a command writes plain English.
PAGES = {"babel"}
OTHER_DATABASES = {"asyncpg", "asyncmy", "sqlalchemy.dialects.mysql", "sqlalchemy.dialects.postgresql"}
# What only a fetch, a saved page or a file of feeds needs.
WITH_THE_FIRST_USE = {"aiohttp", "yarl", "feedmill.outbound.http_session", "yaml", "lxml.html"}
SCALE = {"celery", "kombu", "redis", "obstore"}
LIBRARY_NEVER_IMPORTS = {
    *SERVER,
    *WITH_THE_FIRST_USE,
    *OTHER_DATABASES,
    *SCALE,
    *{"sqlalchemy", "sqlite3", "httpx", "http.client", "ssl", "asyncio", "cryptography", "argon2"},
    *{f"feedmill.{name}" for name in ("settings", "store", "outbound", "archive", "library", "serve", "run", "app")},
}
COMMAND = """
import atexit, json, sys
atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))
sys.argv = ["feedmill", *sys.argv[1:]]
from feedmill.cli import main
main()
"""


def modules_of(data: Path, *command: str) -> set[str]:
    """Every module that a run of the command has imported by its end."""
    script = [sys.executable, "-c", COMMAND, "--data", str(data), *command]
    done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=data)
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("command", ["status", "feeds", "export", "user list", "refresh --due", "refresh --all"])
def test_a_command_that_needs_only_the_database_imports_no_more(tmp_path: Path, command: str) -> None:
    imported = modules_of(tmp_path, *command.split())

    assert "sqlalchemy.dialects.sqlite" in imported
    assert imported & (SERVER | FETCHING | TERMINAL | OTHER_DATABASES | SCALE | PAGES) == set()


def test_a_command_of_pools_imports_neither_the_web_server_nor_what_fetches(tmp_path: Path) -> None:
    imported = modules_of(tmp_path, "pool", "list")

    assert "feedmill.pools.service" in imported
    assert imported & (SERVER | TERMINAL | OTHER_DATABASES | SCALE | WITH_THE_FIRST_USE) == set()
    assert (
        imported & {"feedmill.app", "feedmill.outbound.client", "feedmill.collect.parsing.parse_feed", "lxml"} == set()
    )


@pytest.mark.parametrize("command", ["--help", "settings", "status --help"])
def test_what_needs_no_database_imports_none(tmp_path: Path, command: str) -> None:
    imported = modules_of(tmp_path, *command.split())

    assert imported & (SERVER | FETCHING | OTHER_DATABASES | SCALE | PAGES) == set()
    assert "sqlite3" not in imported


def test_parsing_a_file_imports_neither_a_database_nor_the_http_client(tmp_path: Path) -> None:
    (tmp_path / "feed.xml").write_text("<rss><channel/></rss>")

    imported = modules_of(tmp_path, "parse", "feed.xml")

    assert "feedmill.collect.parsing.parse_feed" in imported
    assert imported & (LIBRARY_NEVER_IMPORTS | TERMINAL) == {"feedmill.settings"}


LIBRARY = """
import json, sys
import feedmill
before = set(sys.modules)
from feedmill import parse_feed, sanitize_html
feed = parse_feed(b"<rss><channel><item><description>a</description></item></channel></rss>", url="https://example.org/")
sanitize_html(feed.entries[0].content_html, "https://example.org/")
print(json.dumps([sorted(before), sorted(sys.modules)]))
"""


def test_the_library_imports_no_web_framework_database_or_http_client(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIBRARY], capture_output=True, text=True, check=True, cwd=tmp_path)

    before, after = map(set, json.loads(done.stdout))
    assert {"lxml", "nh3", "msgspec"} & before == set()
    assert {"lxml", "nh3", "msgspec"} <= after
    assert after & LIBRARY_NEVER_IMPORTS == set()


async def test_a_refresh_of_feeds_without_news_imports_neither_the_library_nor_the_web_server(tmp_path: Path) -> None:
    async with Web() as web:
        web.serve("/feed", Answer(b"<rss><channel><title>a</title></channel></rss>"))
        options = ("--set", "allow_private=127.0.0.0/8", "--set", "host_gap=0")
        start = partial(asyncio.to_thread, modules_of, tmp_path, *options)
        await start("add", "--no-fetch", web.url("/feed"))
        await start("refresh", "--all")

        imported = await start("refresh", "--all")

    assert "feedmill.outbound.http_session" in imported
    assert {name for name in imported if name.startswith("feedmill.library")} == set()
    assert imported & {"feedmill.run.maintenance", "yaml", "lxml.html", "babel"} == set()
    assert imported & (SERVER | TERMINAL | OTHER_DATABASES | SCALE) == set()


COLLECTIONS = """
import atexit, gc, json, sys
def collections():
    return sum(generation["collections"] for generation in gc.get_stats())
atexit.register(lambda: print(json.dumps([collections() - before, len(gc.get_objects())]), file=sys.stderr))
sys.argv = ["feedmill", *sys.argv[1:]]
from feedmill.cli import main
before = collections()
main()
"""


def test_a_command_collects_no_garbage_while_it_imports_and_when_it_ends(tmp_path: Path) -> None:
    script = [sys.executable, "-c", COLLECTIONS, "--data", str(tmp_path), "status"]
    done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=tmp_path)

    collections, left_for_the_last_collection = json.loads(done.stderr.splitlines()[-1])
    assert collections < 20
    assert left_for_the_last_collection < 1000


SERVE = """
import asyncio, json, sys
from feedmill.app import build_app
from feedmill.run.embedded import open_embedded
from feedmill.serve import asgi
from feedmill.cli import serve
from feedmill.lazy_loggers import get_logger, set_up_at_first_line
from feedmill.settings import load_settings

async def main():
    settings = load_settings(data=sys.argv[1])
    set_up_at_first_line(settings)
    async with build_app(settings) as app, open_embedded(app) as parts:
        asgi.create_asgi_app(app, parts.batches)
        get_logger("test").info("the_server_logs")
        print(json.dumps(sorted(sys.modules)))

asyncio.run(main())
"""


# What the API and the pages need.
WITH_THE_FIRST_REQUEST = {
    *{"fastapi", "pydantic", "jwt", "cryptography", "feedmill.serve.rest"},
    *{"jinja2", "feedmill.serve.web.core.render_page", "feedmill.serve.web.routes", "feedmill.serve.web.core.assets"},
}


def test_a_server_imports_what_the_api_and_the_pages_need_with_the_first_request(tmp_path: Path) -> None:
    script = [sys.executable, "-c", SERVE, str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, check=True, cwd=tmp_path)

    imported = set(json.loads(done.stdout))
    assert {"starlette", "structlog", "feedmill.run.scheduler"} <= imported
    assert imported & WITH_THE_FIRST_REQUEST == set()
    assert imported & (OTHER_DATABASES | SCALE | WITH_THE_FIRST_USE | {"rich"}) == set()


CLIENT = """
import json, sys
import feedmill.client
print(json.dumps(sorted(sys.modules)))
"""


def test_the_client_imports_no_web_framework_and_nothing_of_the_server() -> None:
    done = subprocess.run([sys.executable, "-c", CLIENT], capture_output=True, text=True, check=True)

    imported = set(json.loads(done.stdout))
    ours = {name.split(".")[1] for name in imported if name.startswith("feedmill.")}
    assert ours == {"client", "api_schemas", "model", "i18n"}
    assert (
        imported & (SERVER - {"pydantic"} | TERMINAL | SCALE | {"sqlalchemy", "sqlite3", "lxml", "nh3", "babel"})
        == set()
    )
