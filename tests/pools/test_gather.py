"""How entries get into pools: with their refresh, and by looking through what is there already."""

from datetime import timedelta

from msgspec import structs

from feedmill.model.feed import PRIVATE_MARK, Claim
from feedmill.model.pool import Counts, Kind, Rule
from feedmill.model.refresh import Changes, FeedFacts, Move, NewEntry, Schedule, Updated, Visit
from feedmill.pools import gather
from feedmill.pools.door import Pools
from feedmill.store.claims import claim_feeds
from feedmill.store.database import Database, Step
from feedmill.store.feeds import add_feed
from feedmill.store.pool_groups import gathered_up_to
from feedmill.store.refreshes import record
from feedmill.store.schema import entry_labels, labels, users
from tests.pools.rows import MINUTE, NOW, add_entries, items_of

TITLES, CONTENTS = Kind.TITLES, Kind.CONTENTS


def entry(name: str, html: str | None = "<p>text</p>") -> NewEntry:
    return NewEntry(
        guid=name, digest="d", sort_at=NOW, published_at=NOW, updated_at=None, link=None, title=name, author=None,
        summary=None, content_html=html, base_url=None, language=None, image_url=None, comments_url=None,
        categories=(), enclosures=(), images=(),
    )  # fmt: skip


def updated(*new: NewEntry) -> Updated:
    return Updated(
        visit=Visit(NOW, timedelta(0)), schedule=Schedule(NOW + MINUTE, "because"), changes=Changes(new=new),
        facts=FeedFacts(language="en-GB"), raw=None, entry_count=len(new), etag=None, last_modified=None,
        body_sha256="s", last_entry_at=NOW, rhythm=None, wishes=None, move=Move(),
    )  # fmt: skip


async def claimed(db: Database, url: str = "https://example.org/feed") -> Claim:
    feed = await add_feed(db, url, NOW)
    [claim] = await claim_feeds(db, [feed.id], NOW)
    return claim


async def counts(pools: Pools, name: str, kind: Kind = TITLES) -> Counts:
    return (await pools.status(name, kind)).counts


async def test_new_entries_join_in_the_batch_that_stores_them(bare_pools: Pools, db: Database) -> None:
    claim = await claimed(db)
    await bare_pools.create("all", Rule())
    await bare_pools.create("english", Rule(language="en", words=("rust",)))
    await bare_pools.create("other feed", Rule(feeds=(claim.feed.id + 1,)))
    decision = updated(entry("About Rust"), entry("About Go"), entry("Title only", None))

    await record(db, claim, decision, await bare_pools.gatherer.joins(claim, decision))

    assert await counts(bare_pools, "all") == Counts(available=3)
    assert await counts(bare_pools, "all", CONTENTS) == Counts(available=2)
    assert await counts(bare_pools, "english") == Counts(available=1)
    assert await counts(bare_pools, "other feed") == Counts()
    assert {item["batch_id"] for item in await items_of(db)} == {20260218083000}


async def test_without_groups_a_refresh_writes_nothing_more(bare_pools: Pools, db: Database) -> None:
    claim = await claimed(db)

    assert await bare_pools.gatherer.joins(claim, updated(entry("a"))) == ()


async def test_a_group_that_was_deleted_meanwhile_does_not_hurt_the_refresh(bare_pools: Pools, db: Database) -> None:
    claim = await claimed(db)
    await bare_pools.create("all", Rule())
    decision = updated(entry("a"))
    steps = await bare_pools.gatherer.joins(claim, decision)
    await bare_pools.delete("all")

    await record(db, claim, decision, steps)

    assert await items_of(db) == []


async def test_what_was_there_before_the_group_joins_with_the_number_it_would_have_had(
    bare_pools: Pools, db: Database
) -> None:
    await add_entries(db, ["old"], NOW - timedelta(days=1))
    await add_entries(db, ["new"])

    await bare_pools.create("news", Rule())
    await bare_pools.keeper.tend()

    assert [item.text for item in await bare_pools.pop("news", TITLES, 2)] == ["new", "old"]
    assert [item["batch_id"] for item in await items_of(db)] == [20260217083000, 20260218083000]


async def test_looking_again_adds_nothing_and_brings_nothing_used_back(bare_pools: Pools, db: Database) -> None:
    await add_entries(db, ["a", "b"])
    await bare_pools.create("news", Rule())
    await bare_pools.gatherer.catch_up(NOW)
    await bare_pools.pop("news", TITLES)

    await bare_pools.change("news", rule=Rule(min_length=1))
    assert await bare_pools.gatherer.catch_up(NOW) == 2
    assert await bare_pools.gatherer.catch_up(NOW) == 0

    assert await counts(bare_pools, "news") == Counts(available=1, used=1)


async def test_what_was_looked_at_long_ago_is_not_looked_at_again(bare_pools: Pools, db: Database) -> None:
    await add_entries(db, [f"e{number}" for number in range(gather.LOOK_BACK + 10)])
    await bare_pools.create("news", Rule())
    await bare_pools.gatherer.catch_up(NOW)
    assert await gathered_up_to(db) >= 10

    await add_entries(db, ["another"])

    assert await bare_pools.gatherer.catch_up(NOW) == gather.LOOK_BACK + 1


async def test_labelled_entries_join_when_they_are_labelled(bare_pools: Pools, db: Database) -> None:
    _, second = await add_entries(db, ["a", "b"])
    await bare_pools.create("best of", Rule(labels=("best",)))
    await bare_pools.gatherer.catch_up(NOW)
    assert await counts(bare_pools, "best of") == Counts()
    at = "2026-02-18T08:30:00.000Z"
    rows = [
        users.insert().values(id=1, name="alice", created_at=at),
        labels.insert().values(id=5, user_id=1, name="best"),
        entry_labels.insert().values(label_id=5, entry_id=second, sort_at=at),
    ]
    await db.batch([Step(row.inline()) for row in rows])

    await bare_pools.gatherer.catch_up(NOW)

    assert [item.text for item in await bare_pools.pop("best of", TITLES)] == ["b"]


async def test_folders_are_the_operators(bare_pools: Pools, db: Database) -> None:
    claim = await claimed(db)
    claim = structs.replace(claim, feed=structs.replace(claim.feed, folder=("News", "Tech")))
    await bare_pools.create("news", Rule(folders=("News",)))
    await bare_pools.create("sports", Rule(folders=("Sports",)))
    decision = updated(entry("a"))

    await record(db, claim, decision, await bare_pools.gatherer.joins(claim, decision))

    assert (await counts(bare_pools, "news"), await counts(bare_pools, "sports")) == (Counts(available=1), Counts())


async def test_what_one_persons_password_opens_joins_no_pool(bare_pools: Pools, db: Database) -> None:
    claim = await claimed(db, f"https://example.org/feed{PRIVATE_MARK}1")
    await bare_pools.create("all", Rule())
    decision = updated(entry("For Alice alone"))

    await record(db, claim, decision, await bare_pools.gatherer.joins(claim, decision))
    await bare_pools.gatherer.catch_up(NOW)

    assert await counts(bare_pools, "all") == Counts()
