"""What each page on running Feedmill takes for granted, and the blocks that can't be followed in a test."""

import asyncio
import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex

import pytest
from redis import Redis

from tests.databases import emptied
from tests.docs.follow_page import Operator, PageSetup
from tests.services.d1 import TOKEN
from tests.services.s3 import ACCESS_KEY, SECRET_KEY
from tests.waiting import wait_until

DOCKER = "it needs Docker; tests/deploy reads the files"
SYSTEMD = "it needs root and systemd; tests/deploy reads the units"
CLOUDFLARE = "it needs an account at Cloudflare"
EMPTY_DEBIAN = "tests/deploy/test_empty_debian.py follows the page on an empty Debian"
INTERNET = "it installs from the Internet"
PUBLIC_NAME = "it needs a public name"
SECRET = token_hex(32)
# As another program would, in the same database.
RUN_SQL = 'import sqlite3; sqlite3.connect("data/feedmill.db").executescript(open("statements.sql").read())'
FIRST_TEXT = """$ curl -s -X POST -H "Authorization: Bearer $KEY" "$SITE/api/pools/mine/titles" \
-d '{"text": "A title", "id": 12345}'"""

# Why a block is not followed, by page and first line.
NOT_HERE: Mapping[str, Mapping[str, str]] = {
    "apps.md": {'urls-source "freshrss"': "tests/reader_programs/test_newsboat.py runs newsboat with these settings"},
    "cloudflare.md": {
        "npx wrangler r2 bucket create feedmill": CLOUDFLARE,
        "npx wrangler r2 bucket lifecycle add feedmill raw-bodies backups/ --expire-days 31": CLOUDFLARE,
    },
    "demo.md": {"feedmill demo": "tests/cli/test_demo.py starts it"},
    "nas.md": {
        "docker build --platform linux/amd64 --tag feedmill --file deploy/Dockerfile .": DOCKER,
        "sudo mkdir -p /volume1/docker/feedmill/data": "it needs root and a NAS; tests/deploy starts the image",
        "cd /volume1/docker/feedmill": DOCKER,
    },
    "embedded.md": {"image=IMAGE_REGISTRY/feedmill/feedmill:0.1.0": DOCKER},
    "install.md": {
        "apt-get install --yes python3-venv ca-certificates": EMPTY_DEBIAN,
        "python3 -m venv ~/feedmill": EMPTY_DEBIAN,
        "feedmill --version": EMPTY_DEBIAN,
        "feedmill user add alice": EMPTY_DEBIAN,
        "mkdir -p ~/.config/systemd/user": EMPTY_DEBIAN,
        "systemctl --user daemon-reload": SYSTEMD,
        "feedmill backup --with-objects ~/feedmill-backup-$(date +%F)": EMPTY_DEBIAN,
        "~/feedmill/bin/pip install --upgrade feedmill": EMPTY_DEBIAN,
        "feedmill backup --check ~/feedmill-backup-2027-01-31": EMPTY_DEBIAN,
        "rm -r ~/feedmill ~/.local/bin/feedmill": EMPTY_DEBIAN,
    },
    "mcp.md": {
        "$ pip install 'feedmill[mcp]'": INTERNET,
        "claude mcp add --transport http feedmill https://feeds.example.org/mcp \\": "it needs Claude Code",
    },
    "monitoring.md": {
        "python -m venv flower && flower/bin/pip install flower 'celery[redis]'": INTERNET,
    },
    "proxy-worker.md": {
        "npx wrangler login": CLOUDFLARE,
        "openssl rand -hex 32": CLOUDFLARE,
        "npx wrangler deploy --var ALLOW_EXEC:1": CLOUDFLARE,
        "npx wrangler deploy": CLOUDFLARE,
        "npx wrangler secret put PROXY_TOKEN_OLD": CLOUDFLARE,
    },
    "reverse-proxy.md": {
        "feeds.example.org {": "it needs Caddy and a public name",
        '$ curl -N -H "Authorization: Bearer $KEY" https://feeds.example.org/api/jobs/7/events': PUBLIC_NAME,
    },
    "single-sign-on.md": {
        "feeds.example.org {": "it needs Caddy, Authelia and a public name",
        "location / {": "it needs nginx and Authelia",
    },
    "scaled-out.md": {
        "cp deploy/example.env deploy/.env": DOCKER,
        "docker compose --file deploy/compose.yaml --file deploy/compose.redis.yaml up --detach": DOCKER,
    },
    "raspberry-pi.md": {
        "sudo apt-get install --yes pipx": "it needs root; tests/deploy installs the wheel",
        "install -d -m 0700 -o feedmill -g feedmill /mnt/disk/objects": SYSTEMD,
        "PYTHONPATH=. .venv/bin/python bench/small_machine.py --write": "it needs root, and takes a quarter of an hour",
    },
    "scale.md": {
        "checkpoint_timeout = 30min": "tests/deploy/test_postgres_settings.py has PostgreSQL take these settings",
    },
    "debian.md": {
        "apt-get install --yes python3 python3-venv ca-certificates git": SYSTEMD,
        "systemd-run --pty --pipe --wait --quiet --uid=feedmill -E FEEDMILL_DATA=/var/lib/feedmill \\": SYSTEMD,
        "systemctl stop feedmill": SYSTEMD,
        "systemctl stop 'feedmill*'": SYSTEMD,
    },
}

MakeSetup = Callable[[Path, str, pytest.FixtureRequest], PageSetup]


def _apps(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    return PageSetup(before={'$ feedmill user app-password alice --for "Alice\'s phone"': _add_alice})


def _single_sign_on(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    secret = folder / "client_secret"
    secret.write_text("the secret of a client")
    return PageSetup(
        names={"/run/secrets/feedmill_oidc": str(secret)},
        files={"toml": ("feedmill.toml", "feedmill settings")},
        before={"feedmill user sign-in-link alice": _add_alice},
    )


def _output_feeds(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    return PageSetup(before={"$ feedmill output-feed lists alice": _add_alice})


def _filters(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    def add_alice_with_a_feed(operator: Operator) -> None:
        operator.shell(f"feedmill user add alice && feedmill add --user alice {feed_url}")

    return PageSetup(
        names={"in:title rust release": "herons"},
        before={"feedmill filter try alice 'in:title rust release'": add_alice_with_a_feed},
    )


def _mcp(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    return PageSetup(before={'$ feedmill user key alice --for "Claude Code" --scope read --scope write': _add_alice})


def _add_alice(operator: Operator) -> None:
    operator.shell("feedmill user add alice")


def _embedded(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    return PageSetup(
        names={"make run ": "true ", "/srv/feedmill": str(folder / "srv")},
        files={"toml": ("feedmill.toml", "feedmill settings")},
    )


def _raspberry_pi(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    return PageSetup(files={"toml": ("feedmill.toml", "feedmill settings")})


def _declared_feeds(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    def write_an_error(operator: Operator) -> None:
        lines = [
            "feeds:",
            *("  # a comment" for _ in range(4)),
            "  - url: https://example.org/feed",
            "    intervall: 1h",
        ]
        (operator.folder / "new.yaml").write_text("\n".join(lines))

    return PageSetup(
        files={"yaml": ("data/feeds.yaml", "feedmill doctor"), "toml": ("data/feeds.toml", "feedmill doctor")},
        before={"$ feedmill --set feeds_file=new.yaml doctor": write_an_error},
    )


def _scripts(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    names = {"0 */6 * * *  ": "", "/srv/feedmill": str(folder / "data"), "/var/log": str(folder)}

    def serve_a_key(operator: Operator) -> None:
        operator.shell(f"feedmill user add alice && feedmill add --user alice {feed_url} && feedmill serve")
        names.update({"https://feeds.example.org": f"http://127.0.0.1:{operator.port}", "fm_…": operator.new_key()})

    return PageSetup(names, before={"import asyncio": serve_a_key})


def _backup(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    def collect(operator: Operator) -> None:
        operator.shell(f"feedmill user add alice && feedmill add {feed_url}")

    def lose_everything(operator: Operator) -> None:
        shutil.rmtree(operator.folder / "data")
        (operator.folder / "srv" / "keys").mkdir(exist_ok=True)
        (operator.folder / "srv" / "keys" / "secret.key").write_text(SECRET)

    return PageSetup(
        names={"/srv/": f"{folder}/srv/"},
        before={
            "feedmill backup --with-objects /srv/backup/2026-02-18": collect,
            "mkdir data": lose_everything,
            "feedmill migrate": lose_everything,
        },
    )


def _scaled_out(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    names = {
        **_servers(folder, request),
        "ACCESS_KEY=…": f"ACCESS_KEY={ACCESS_KEY}",
        "S3_SECRET_KEY=…": f"S3_SECRET_KEY={SECRET_KEY}",
        "FEEDMILL_SECRET_KEY=…": f"FEEDMILL_SECRET_KEY={SECRET}",
    }

    def add_a_feed(operator: Operator) -> None:
        names['"feed_id": 42'] = f'"feed_id": {operator.add(feed_url)}'

    return PageSetup(names, before={"import os": add_a_feed}, keeps_servers=True)


def _coming_from(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    names: dict[str, str] = {}

    def run_everything(operator: Operator) -> None:
        database, redis, objects = _servers(folder, request).values()
        settings = {"DATABASE": database, "REDIS": redis, "OBJECTS": objects.strip("'"), "SECRET_KEY": SECRET}
        keys = {"S3_ACCESS_KEY": ACCESS_KEY, "S3_SECRET_KEY": SECRET_KEY}
        operator.env |= {f"FEEDMILL_{name}": value for name, value in (settings | keys).items()}
        operator.shell(f"feedmill user add alice && feedmill add --user alice {feed_url}")
        operator.shell("feedmill api && feedmill worker")
        names["fm_…"] = operator.new_key()

    return PageSetup(names, before={"export SITE=http://127.0.0.1:8000 KEY=fm_…": run_everything}, keeps_servers=True)


def _servers(folder: Path, request: pytest.FixtureRequest) -> dict[str, str]:
    """The servers of the tests by the names that the page has for them; the database is empty."""
    return {
        "postgresql://feedmill:…@db/feedmill": _emptied(request, "postgresql", "postgres_service", folder),
        "redis://redis:6379/0": request.getfixturevalue("redis_service").url,
        **_bucket(request, "'s3://feedmill?endpoint=https://s3.example.org'", folder.name),
    }


def _pools(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    names = {"https://example.org/feed": feed_url}
    redis = Redis.from_url(request.getfixturevalue("redis_service").url)
    redis.flushall()

    def add_bob(operator: Operator) -> None:
        for name in ("alice", "bob"):
            operator.shell(f"feedmill user add {name}")

    def serve(operator: Operator) -> None:
        operator.env["FEEDMILL_REDIS"] = request.getfixturevalue("redis_service").url
        operator.shell("feedmill serve")
        operator.env |= {"SITE": f"http://127.0.0.1:{operator.port}", "KEY": operator.new_key()}
        names.update({"https://feeds.example.org": operator.env["SITE"], "fm_…": operator.env["KEY"]})

    def write_texts(operator: Operator) -> None:
        for name in ("titles.txt", "contents.txt"):
            (operator.folder / name).write_text("One\nTwo\n")
        article = {"id": 1, "title": "One", "content": "<p>1</p>", "batch_id": 7}
        (operator.folder / "articles.jsonl").write_text(f"{json.dumps(article)}\n")
        (operator.folder / "articles.csv").write_text("id,title,content,batch_id\n2,Two,<p>2</p>,7\n")
        producer = operator.folder / "bin" / "producer"
        producer.write_text("#!/bin/sh\ncat articles.jsonl\n")
        producer.chmod(0o755)

    def fill_list(operator: Operator) -> None:
        operator.shell("feedmill pool requeue news titles --used")
        wait_until(lambda: redis.llen("titles:pool:1") > 0, otherwise="the list is not filled")
        names["12345"] = str(json.loads(redis.lindex("titles:pool:1", -1))["id"])

    return PageSetup(
        names,
        before={
            "feedmill pool grant news bob": add_bob,
            FIRST_TEXT: serve,
            "feedmill pool import mine titles.txt": write_texts,
            "$ feedmill pool change news --others-rpop": fill_list,
        },
        files={"sql": ("statements.sql", f"{sys.executable} -c '{RUN_SQL}'")},
        keeps_servers=True,
    )


def _emptied(request: pytest.FixtureRequest, kind: str, service: str, folder: Path) -> str:
    async def empty_it() -> None:
        async with emptied(request, kind, folder):
            pass

    asyncio.run(empty_it())
    return str(request.getfixturevalue(service).url)


def _d1(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    names = {
        "d1+https://feedmill-proxy.YOUR-NAME.workers.dev": f"d1+{_emptied(request, 'd1', 'd1_service', folder)}",
        "DATABASE_TOKEN=...": f"DATABASE_TOKEN={TOKEN}",
    }
    return PageSetup(names)


def _cloudflare(folder: Path, feed_url: str, request: pytest.FixtureRequest) -> PageSetup:
    bucket = "'s3://feedmill?endpoint=https://ACCOUNT-ID.r2.cloudflarestorage.com&region=auto'"
    return PageSetup(
        names={
            **_d1(folder, feed_url, request).names,
            **_bucket(request, bucket, folder.name),
            "S3_ACCESS_KEY=...": f"S3_ACCESS_KEY={ACCESS_KEY}",
            "S3_SECRET_KEY=...": f"S3_SECRET_KEY={SECRET_KEY}",
            "FEEDMILL_SECRET_KEY=...": f"FEEDMILL_SECRET_KEY={SECRET}",
            "https://example.org/feed": feed_url,
        }
    )


def _bucket(request: pytest.FixtureRequest, named: str, prefix: str) -> dict[str, str]:
    """The bucket of the tests, with a prefix of its own."""
    bucket, _, query = request.getfixturevalue("s3_service").url.partition("@")[2].partition("?")
    return {named: f"'s3://{bucket}/{prefix}?{query}'"}


SETUPS: Mapping[str, MakeSetup] = {
    "apps.md": _apps,
    "backup.md": _backup,
    "cloudflare.md": _cloudflare,
    "coming-from.md": _coming_from,
    "declared-feeds.md": _declared_feeds,
    "embedded.md": _embedded,
    "filters.md": _filters,
    "mcp.md": _mcp,
    "output-feeds.md": _output_feeds,
    "single-sign-on.md": _single_sign_on,
    "pools.md": _pools,
    "raspberry-pi.md": _raspberry_pi,
    "proxy-worker.md": _d1,
    "scaled-out.md": _scaled_out,
    "scripts.md": _scripts,
}
