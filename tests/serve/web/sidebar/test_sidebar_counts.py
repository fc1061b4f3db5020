"""The counts of the sidebar: views, labels and saved searches, and who hears of changes."""

from datetime import UTC, datetime

from sqlalchemy import select

from feedmill.library.entries.marks import apply_marks
from feedmill.library.entries.unread_counts import count_labels_and_searches, unread_counts_of_user
from feedmill.library.subscriptions.folders import ensure_folders
from feedmill.model.entry_marks import EntryMarks
from feedmill.serve.web.sidebar.count_watcher import CountWatcher
from feedmill.serve.web.sidebar.sidebar_counts import slow_counts
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.entries.labels import add_label
from feedmill.store.schema import entries, folder_subscriptions
from feedmill.store.search.saved_searches import save_search
from tests.browser import sample_feeds
from tests.serve.rest.site import Site
from tests.serve.web.many_feeds import add_many_feeds
from tests.serve.web.visitor import Visitor, pages_of


async def test_views_labels_and_searches_have_counts(site: Site, alice: Visitor) -> None:
    user, db, now = await alice.user(site), site.app.db, datetime.now(UTC)
    label = await add_label(db, user.id, "Wood")
    saved = await save_search(db, user.id, "Mills", "mill")
    ids = [row["id"] for row in await db.query(select(entries.c.id).order_by(entries.c.id))][:3]
    await apply_marks(db, user.id, ids, EntryMarks(add_labels=(label.id,), later=True), now)
    await apply_marks(db, user.id, ids[:1], EntryMarks(read=True), now)

    slow = await slow_counts((await pages_of(site)).state, user.id).read()
    page = await alice.see("/all")

    shown = {place.get("data-count"): place.text for place in page.xpath("//span[@data-count]")}
    assert shown["later"] == "3"
    assert shown[f"label-{label.id}"] == "2"
    assert slow is not None
    assert shown[f"search-{saved.id}"] == str(slow.searches[saved.id])
    assert int(shown["today"]) > 0
    counts = (await alice.client.get("/counts")).json()
    assert {name: text or None for name, text in counts["views"].items()} == shown


async def test_a_search_that_makes_no_sense_any_more_counts_nothing(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    saved = await save_search(site.app.db, user.id, "Broken", "feed:(")

    counts = await count_labels_and_searches(site.app.db, user.id, datetime.now(UTC))

    assert counts.searches == {saved.id: 0}


async def test_a_folder_counts_the_feeds_of_its_subfolders_once(site: Site, alice: Visitor) -> None:
    user, db = await alice.user(site), site.app.db
    many = await add_many_feeds(db, user, count=4, folders=0)
    made = await ensure_folders(db, user.id, [("Outer", "Inner")])
    outer, inner = made["Outer",], made["Outer", "Inner"]
    filed = [(outer, many.subscriptions[0]), (inner, many.subscriptions[0]), (inner, many.subscriptions[1])]
    rows = [{"folder_id": folder, "subscription_id": id} for folder, id in filed]
    await db.batch([Step(insert(folder_subscriptions, "folder_id", "subscription_id"), rows)])

    counts = await unread_counts_of_user(db, user.id)

    assert counts.folders[outer] == counts.folders[inner] == 2


async def test_only_who_reads_a_feed_hears_of_its_new_entries(site: Site, alice: Visitor, charlie: Visitor) -> None:
    user, other, watcher = (
        await alice.user(site),
        await charlie.user(site),
        CountWatcher(site.app.db, tick_seconds=None),
    )
    with watcher.listen(user.id) as hers, watcher.listen(other.id) as his:
        await watcher.check()
        await watcher.check()
        assert not hers.is_set()

        fresh = sample_feeds.SampleFeed("/fresh.xml", "Fresh", [sample_feeds.SampleEntry("Just in")])
        await sample_feeds.subscribe_to(site, user, fresh)
        await watcher.check(with_sums=False)

        assert (hers.is_set(), his.is_set()) == (True, False)


async def test_what_another_program_marks_is_noticed_too(site: Site, alice: Visitor) -> None:
    user, watcher = await alice.user(site), CountWatcher(site.app.db, tick_seconds=None)
    with watcher.listen(user.id) as changed:
        await watcher.check()
        await apply_marks(site.app.db, user.id, [1], EntryMarks(read=True), datetime.now(UTC))

        await watcher.check(with_sums=False)
        assert not changed.is_set()
        await watcher.check()

        assert changed.is_set()
