"""The object store is gone for a while: what it cost is made up for by itself, and the next one who asks is served."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

from tests.faults.api import Api, running_api
from tests.faults.gate import Gate
from tests.faults.mills import Mill
from tests.faults.scaled import Scaled, scaled_out
from tests.services.server import Service
from tests.waiting import until

pytestmark = pytest.mark.timeout(240)

# More than a worker fetches at once: the first ones fail, and the others are turned away.
FEEDS = 100
# Longer than any test: nobody is served because a pause was over.
FOR_EVER = 3600.0


@dataclass(frozen=True)
class Installation:
    scaled: Scaled
    api: Api
    s3: Gate


@pytest.fixture
async def here(tmp_path: Path, postgres_service: Service, s3_service: Service) -> AsyncIterator[Installation]:
    """An installation whose objects are in S3, behind a gate that can be shut."""
    keys, rest = s3_service.url.removeprefix("s3://").split("@", 1)
    access_key, secret_key = keys.split(":", 1)
    bucket, rest = rest.split("?", 1)
    endpoint, port = rest.rsplit(":", 1)
    # A place of its own: a store belongs to one database.
    address = f"{bucket}/{token_hex(4)}?{endpoint}"
    async with Gate(int(port)) as gate:
        settings = {
            "objects": f"s3://{address}:{gate.port}",
            "s3_access_key": access_key,
            "s3_secret_key": secret_key,
        }
        async with scaled_out(tmp_path, postgres_service.url, FEEDS, **settings) as scaled, running_api(scaled) as api:
            yield Installation(scaled, api, gate)


async def test_after_s3_is_back_the_next_asked_refresh_succeeds(here: Installation) -> None:
    await here.scaled.start("worker", storage_pause=FOR_EVER, lease=60)
    here.s3.shut()
    assert await _refresh_all(here) == {"failed"}
    here.s3.open()

    assert await _refresh_all(here) == {"updated"}


async def test_what_s3_did_not_take_is_fetched_again_by_itself(here: Installation) -> None:
    for role in ("scheduler", "worker"):
        await here.scaled.start(role, storage_pause=1, lease=60)
    here.s3.shut()
    assert await _refresh_all(here) == {"failed"}

    here.s3.open()

    await until(lambda: _have_entries(here), otherwise="not every feed was fetched again")


async def test_an_outage_of_s3_is_one_line_at_its_beginning_and_one_at_its_end(here: Installation) -> None:
    worker = await here.scaled.start("worker", storage_pause=FOR_EVER, lease=60)
    here.s3.shut()
    await _refresh_all(here)
    here.s3.open()
    await _refresh_all(here)

    lines = _lines(worker)

    loud = [line for line in lines if line["level"] in ("warning", "error", "critical")]
    assert [line["event"] for line in loud] == ["outage_began", "outage_ended"]
    began, ended = loud
    assert (began["dependency"], began["affected"]) == ("objects", "refresh_feeds")
    assert ended["affected"] == ["refresh_feeds"]
    assert ended["seconds"] > 0
    assert ended["failures"] >= 1
    assert not any("exception" in line for line in lines)


async def _refresh_all(here: Installation) -> set[str]:
    """What came of the feeds when Alice asked for all of them."""
    job_id = (await here.api.alice.post("/feeds/refresh-all", json={})).json()["job_id"]
    await here.scaled.world.until_batches_end()
    return {job["outcome"] for job in await here.scaled.world.batch_jobs() if job["batch_id"] == job_id}


async def _have_entries(here: Installation) -> bool:
    return all(feed["last_success_at"] for feed in await here.scaled.world.feeds())


def _lines(mill: Mill) -> list[dict[str, Any]]:
    return [json.loads(line) for line in mill.said().splitlines()]
