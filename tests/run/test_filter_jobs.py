"""A server works on the jobs of filters by itself."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from feedmill.app import build_app
from feedmill.library.filters.filter_jobs import apply_backwards, find_filter_job
from feedmill.library.filters.manage_filters import create_filter
from feedmill.model.filters.entry_filter import FilterActions, FilterDraft
from feedmill.model.timestamps import to_iso
from feedmill.model.user import SCOPES, Caller
from feedmill.run.embedded import open_embedded
from feedmill.run.periodic_parts import run_periodic_parts
from feedmill.settings import load_settings
from feedmill.store.database import Step
from feedmill.store.schema import feeds
from tests.library.small_library import SmallLibrary
from tests.waiting import until


async def test_a_server_applies_a_filter_to_what_is_stored(tmp_path: Path) -> None:
    async with build_app(load_settings(data=str(tmp_path))) as app:
        library, now = SmallLibrary(app.db), datetime.now(UTC)
        alice, feed = await library.person(), await library.feed()
        await library.subscribe(alice, feed)
        await library.arrive(feed, "kilns", "other")
        # Nothing is fetched meanwhile: the server would wait for it before it stops.
        await app.db.batch([Step(feeds.update().values(next_fetch_at=to_iso(now + timedelta(days=1))))])
        draft = FilterDraft("kilns", "kilns", actions=FilterActions(star=True))
        own = await create_filter(app.db, Caller(alice, frozenset(SCOPES)), draft, now)
        job = await apply_backwards(app.db, alice.id, own.id, now)

        async def is_done() -> bool:
            return (await find_filter_job(app.db, alice.id, job.id)).status == "done"

        async with open_embedded(app) as parts, run_periodic_parts(app, parts):
            await until(is_done)

        assert (await find_filter_job(app.db, alice.id, job.id)).changed == 1
