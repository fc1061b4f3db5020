"""A popular feed, whose unread rows are added when its readers read, behaves exactly as every other feed.

So does its merge into another one, which moves its readers in several batches.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from feedmill.store.entries import deferred_entries
from feedmill.store.feeds import merge_feeds
from tests.databases import emptied
from tests.flows.conftest import open_environment
from tests.library.entries.random_reading import RandomReading, counts_that_are_wrong

NEVER, ALWAYS = 10**9, 0
# What readers do in `make check`.
SHORT = 40


def _popularity(name: str, seed: int) -> Callable[[], int]:
    """What `POPULAR_ABOVE` is for the next refresh; with one or two subscribers some feeds are popular now and then."""
    turns = iter(range(seed, 10**9))
    return {"never": lambda: NEVER, "always": lambda: ALWAYS, "now and then": lambda: next(turns) % 3}[name]


async def _read(
    request: pytest.FixtureRequest, kind: str, folder: Path, popularity: str, seed: int, steps: int
) -> tuple[list[Any], int]:
    monkeypatch = pytest.MonkeyPatch()
    choose = _popularity(popularity, seed)
    folder.mkdir()
    async with emptied(request, kind, folder) as db, open_environment(db, folder) as env:
        with monkeypatch.context() as patched:
            if popularity != "never":
                patched.setattr(merge_feeds, "MOST_AT_ONCE", 1)
            reading = RandomReading(env, seed, lambda: patched.setattr(deferred_entries, "POPULAR_ABOVE", choose()))
            seen = await reading.run(steps)
            assert await counts_that_are_wrong(env) == []
        return seen, reading.most_deferred


@pytest.mark.parametrize(
    ("kind", "seed", "steps"),
    [
        *(("sqlite", seed, 200) for seed in range(8)),
        *(("postgresql", seed, 200) for seed in range(8, 11)),
        ("mariadb", 11, 200),
        # A round trip for each query.
        ("d1", 12, 60),
    ],
)
async def test_a_popular_feed_is_read_as_every_other(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, seed: int, steps: int, is_check: bool
) -> None:
    steps = SHORT if is_check else steps
    usual, deferred = await _read(request, kind, tmp_path / "never", "never", seed, steps)
    assert deferred == 0

    for popularity in ("always", "now and then"):
        seen, deferred = await _read(request, kind, tmp_path / popularity, popularity, seed, steps)

        assert deferred
        for place, (one, other) in enumerate(zip(seen, usual, strict=True)):
            assert one == other, f"step {place}, {popularity}"
