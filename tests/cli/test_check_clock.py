"""`feedmill check` compares our clock with those of the database and the object store."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill.cli import check
from feedmill.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data")


async def test_clocks_that_agree_are_named(settings: Settings) -> None:
    assert (await check._clock(settings)).endswith("UTC, the same as the database and the object store")


@pytest.mark.parametrize("whose", ["_database_time", "_store_time"])
@pytest.mark.parametrize(("seconds", "word"), [(-95, r"9\d s ahead of"), (95, r"9\d s behind")])
async def test_a_wrong_clock_is_reported(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, whose: str, seconds: int, word: str
) -> None:
    async def theirs(settings: Settings) -> datetime:
        return datetime.now(UTC) + timedelta(seconds=seconds)

    monkeypatch.setattr(check, whose, theirs)

    with pytest.raises(check.CheckFailed, match=word):
        await check._clock(settings)
