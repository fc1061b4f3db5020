"""The object store is unreachable for a while: failed refreshes are repeated, and the next request succeeds."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.faults.api import Api, running_api
from tests.faults.processes import FeedmillProcess
from tests.faults.scaled_out_installation import ScaledOutInstallation, scaled_out
from tests.faults.tcp_proxy import TcpProxy
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(240)

# More than a worker fetches at once: the first ones fail, and the others are refused.
FEEDS = 100
# Longer than any test, so that no refresh succeeds because a pause is over.
FOR_EVER = 3600.0


@dataclass(frozen=True)
class InstallationWithProxy:
    scaled: ScaledOutInstallation
    api: Api
    s3: TcpProxy


@pytest.fixture
async def installation(
    tmp_path: Path, postgres_service: Service, s3_service: Service
) -> AsyncIterator[InstallationWithProxy]:
    """An installation whose objects are in S3, behind a proxy that can be blocked."""
    keys, rest = s3_service.url.removeprefix("s3://").split("@", 1)
    access_key, secret_key = keys.split(":", 1)
    bucket, rest = rest.split("?", 1)
    endpoint, port = rest.rsplit(":", 1)
    # A place of its own: a store belongs to one database.
    address = f"{bucket}/{token_hex(4)}?{endpoint}"
    async with TcpProxy(int(port)) as proxy:
        settings = {
            "objects": f"s3://{address}:{proxy.port}",
            "s3_access_key": access_key,
            "s3_secret_key": secret_key,
        }
        async with scaled_out(tmp_path, postgres_service.url, FEEDS, **settings) as scaled, running_api(scaled) as api:
            yield InstallationWithProxy(scaled, api, proxy)


async def test_the_first_requested_refresh_after_an_outage_of_s3_succeeds(installation: InstallationWithProxy) -> None:
    await installation.scaled.start("worker", storage_pause=FOR_EVER, lease=60)
    installation.s3.block()
    assert await _refresh_all(installation) == {"failed"}
    installation.s3.unblock()

    assert await _refresh_all(installation) == {"updated"}


async def test_feeds_that_failed_in_an_outage_of_s3_are_fetched_again(installation: InstallationWithProxy) -> None:
    for role in ("scheduler", "worker"):
        await installation.scaled.start(role, storage_pause=1, lease=60)
    installation.s3.block()
    assert await _refresh_all(installation) == {"failed"}

    installation.s3.unblock()

    await until(lambda: _have_entries(installation), otherwise="not every feed was fetched again")


async def test_an_outage_of_s3_is_logged_once_at_its_beginning_and_once_at_its_end(
    installation: InstallationWithProxy,
) -> None:
    worker = await installation.scaled.start("worker", storage_pause=FOR_EVER, lease=60)
    installation.s3.block()
    await _refresh_all(installation)
    installation.s3.unblock()
    await _refresh_all(installation)

    lines = _lines(worker)

    loud = [line for line in lines if line["level"] in ("warning", "error", "critical")]
    assert [line["event"] for line in loud] == ["outage_began", "outage_ended"]
    began, ended = loud
    assert (began["dependency"], began["affected"]) == ("objects", "refresh_feeds")
    assert ended["affected"] == ["refresh_feeds"]
    assert ended["seconds"] > 0
    assert ended["failures"] >= 1
    assert not any("exception" in line for line in lines)


async def _refresh_all(installation: InstallationWithProxy) -> set[str]:
    """The outcomes of a refresh of all feeds."""
    job_id = (await installation.api.alice.post("/feeds/refresh-all", json={})).json()["job_id"]
    await installation.scaled.env.until_batches_end()
    return {job["outcome"] for job in await installation.scaled.env.batch_jobs() if job["batch_id"] == job_id}


async def _have_entries(installation: InstallationWithProxy) -> bool:
    return all(feed["last_success_at"] for feed in await installation.scaled.env.feeds())


def _lines(process: FeedmillProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in process.logged_text().splitlines()]
