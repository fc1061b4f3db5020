"""How entries get into pools: with their refresh, and by scanning existing entries."""

from datetime import timedelta

import pytest
from msgspec import structs

from feedmill.errors import BadInput
from feedmill.i18n.messages import verbatim
from feedmill.model.feed import PRIVATE_URL_MARKER, Claim
from feedmill.model.pool import PoolCounts, PoolKind, PoolRule
from feedmill.model.refresh import EntryDiff, FeedMetadata, FeedMove, FetchStats, NewEntry, Schedule, Updated
from feedmill.model.user import Actor
from feedmill.pools import gather
from feedmill.pools.service import PoolService
from feedmill.store.admin.users import delete_user
from feedmill.store.database import Database
from feedmill.store.entries.labels import rename_label, steps_to_label
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.feeds.record_refresh import record_refresh
from feedmill.store.pools.gather_progress import gathered_up_to
from feedmill.store.users.users import add_user
from tests.pools.pool_rows import MINUTE, NOW, add_entries, items_of, label

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS


def entry(name: str, html: str | None = "<p>text</p>") -> NewEntry:
    return NewEntry(
        guid=name,
        digest="d",
        sort_at=NOW,
        published_at=NOW,
        updated_at=None,
        link=None,
        title=name,
        author=None,
        summary=None,
        content_html=html,
        base_url=None,
        language=None,
        image_url=None,
        comments_url=None,
        categories=(),
        enclosures=(),
        images=(),
    )


def updated(*new: NewEntry) -> Updated:
    return Updated(
        stats=FetchStats(NOW, timedelta(0)),
        schedule=Schedule(NOW + MINUTE, verbatim("because")),
        changes=EntryDiff(new=new),
        metadata=FeedMetadata(language="en-GB"),
        raw=None,
        entry_count=len(new),
        etag=None,
        last_modified=None,
        body_sha256="s",
        last_entry_at=NOW,
        usual_gap=None,
        polling_hints=None,
        move=FeedMove(),
    )


async def claimed(db: Database, url: str = "https://example.org/feed") -> Claim:
    feed = await add_feed(db, url, NOW)
    [claim] = await claim_feeds(db, [feed.id], NOW)
    return claim


async def counts(pools: PoolService, name: str, kind: PoolKind = TITLES) -> PoolCounts:
    return (await pools.status(name, kind)).counts


async def test_new_entries_join_in_the_batch_that_stores_them(bare_pools: PoolService, db: Database) -> None:
    claim = await claimed(db)
    await bare_pools.create("all", PoolRule())
    await bare_pools.create("english", PoolRule(language="en", words=("rust",)))
    await bare_pools.create("other feed", PoolRule(feeds=(claim.feed.id + 1,)))
    decision = updated(entry("About Rust"), entry("About Go"), entry("Title only", None))

    await record_refresh(db, claim, decision, await bare_pools.gatherer.pool_writes(claim, decision))

    assert await counts(bare_pools, "all") == PoolCounts(available=3)
    assert await counts(bare_pools, "all", CONTENTS) == PoolCounts(available=2)
    assert await counts(bare_pools, "english") == PoolCounts(available=1)
    assert await counts(bare_pools, "other feed") == PoolCounts()
    assert {item["batch_id"] for item in await items_of(db)} == {20260218083000}


async def test_without_groups_a_refresh_writes_nothing_else(bare_pools: PoolService, db: Database) -> None:
    claim = await claimed(db)

    assert await bare_pools.gatherer.pool_writes(claim, updated(entry("a"))) == ()


async def test_a_group_that_was_deleted_meanwhile_does_not_disturb_the_refresh(
    bare_pools: PoolService, db: Database
) -> None:
    claim = await claimed(db)
    await bare_pools.create("all", PoolRule())
    decision = updated(entry("a"))
    steps = await bare_pools.gatherer.pool_writes(claim, decision)
    await bare_pools.delete("all")

    await record_refresh(db, claim, decision, steps)

    assert await items_of(db) == []


async def test_entries_older_than_the_group_join_with_their_original_batch_number(
    bare_pools: PoolService, db: Database
) -> None:
    await add_entries(db, ["old"], NOW - timedelta(days=1))
    await add_entries(db, ["new"])

    await bare_pools.create("news", PoolRule())
    await bare_pools.maintainer.run_once()

    assert [item.text for item in await bare_pools.pop("news", TITLES, 2)] == ["new", "old"]
    assert [item["batch_id"] for item in await items_of(db)] == [20260217083000, 20260218083000]


async def test_scanning_again_adds_nothing_and_returns_no_used_item(bare_pools: PoolService, db: Database) -> None:
    await add_entries(db, ["a", "b"])
    await bare_pools.create("news", PoolRule())
    await bare_pools.gatherer.catch_up(NOW)
    await bare_pools.pop("news", TITLES)

    await bare_pools.change("news", rule=PoolRule(min_length=1))
    assert await bare_pools.gatherer.catch_up(NOW) == 2
    assert await bare_pools.gatherer.catch_up(NOW) == 0

    assert await counts(bare_pools, "news") == PoolCounts(available=1, used=1)


async def test_entries_scanned_long_ago_are_not_scanned_again(bare_pools: PoolService, db: Database) -> None:
    await add_entries(db, [f"e{number}" for number in range(gather.RESCAN + 10)])
    await bare_pools.create("news", PoolRule())
    await bare_pools.gatherer.catch_up(NOW)
    assert await gathered_up_to(db) >= 10

    await add_entries(db, ["another"])

    assert await bare_pools.gatherer.catch_up(NOW) == gather.RESCAN + 1


async def test_labelled_entries_join_when_they_are_labelled(bare_pools: PoolService, db: Database) -> None:
    alice = await add_user(db, "alice", None, False, NOW)
    _, second = await add_entries(db, ["a", "b"])
    await bare_pools.create("best of", PoolRule(labels=("best",), labels_of="alice"))
    await bare_pools.gatherer.catch_up(NOW)
    assert await counts(bare_pools, "best of") == PoolCounts()
    await label(db, alice.id, "best", [second])

    await bare_pools.gatherer.catch_up(NOW)

    assert [item.text for item in await bare_pools.pop("best of", TITLES)] == ["b"]


async def test_a_label_of_one_user_does_not_feed_anothers_pool(bare_pools: PoolService, db: Database) -> None:
    _, bob = [await add_user(db, name, None, False, NOW) for name in ("alice", "bob")]
    [entry_id] = await add_entries(db, ["a"])
    await bare_pools.create("best of", PoolRule(labels=("best",), labels_of="alice"))

    await label(db, bob.id, "best", [entry_id])
    await bare_pools.gatherer.catch_up(NOW)

    assert await counts(bare_pools, "best of") == PoolCounts()


async def test_a_renamed_label_does_not_match_the_rule_any_more(bare_pools: PoolService, db: Database) -> None:
    alice = await add_user(db, "alice", None, False, NOW)
    first, second = await add_entries(db, ["a", "b"])
    await bare_pools.create("best of", PoolRule(labels=("best",), labels_of="alice"))
    label_id = await label(db, alice.id, "best", [first])
    await bare_pools.gatherer.catch_up(NOW)

    await rename_label(db, alice.id, label_id, "finest")
    await db.batch(steps_to_label(alice.id, [second], [label_id]))
    await bare_pools.gatherer.catch_up(NOW)
    assert await counts(bare_pools, "best of") == PoolCounts(available=1)

    await bare_pools.change("best of", rule=PoolRule(labels=("finest",), labels_of="alice"))
    await bare_pools.gatherer.catch_up(NOW)
    assert await counts(bare_pools, "best of") == PoolCounts(available=2)


async def test_a_group_whose_label_account_was_deleted_keeps_its_items_and_can_be_paused(
    bare_pools: PoolService, db: Database
) -> None:
    alice = await add_user(db, "alice", None, False, NOW)
    [entry_id] = await add_entries(db, ["a"])
    await bare_pools.create("best of", PoolRule(labels=("best",), labels_of="alice"))
    await label(db, alice.id, "best", [entry_id])
    await bare_pools.gatherer.catch_up(NOW)

    await delete_user(db, alice, Actor(), NOW)
    paused = await bare_pools.change("best of", paused=True)
    await bare_pools.gatherer.catch_up(NOW)

    assert (paused.rule.labels, paused.rule.labels_of) == (("best",), None)
    assert await counts(bare_pools, "best of") == PoolCounts(available=1)


@pytest.mark.parametrize("rule", [PoolRule(labels=("best",)), PoolRule(labels=("best",), labels_of="nobody")])
async def test_a_rule_by_label_names_an_account(bare_pools: PoolService, rule: PoolRule) -> None:
    await bare_pools.create("news", PoolRule())

    with pytest.raises(BadInput):
        await bare_pools.create("best of", rule)
    with pytest.raises(BadInput):
        await bare_pools.change("news", rule=rule)


async def test_rules_use_the_folders_of_the_operator(bare_pools: PoolService, db: Database) -> None:
    claim = await claimed(db)
    claim = structs.replace(claim, feed=structs.replace(claim.feed, folder=("News", "Tech")))
    await bare_pools.create("news", PoolRule(folders=("News",)))
    await bare_pools.create("sports", PoolRule(folders=("Sports",)))
    decision = updated(entry("a"))

    await record_refresh(db, claim, decision, await bare_pools.gatherer.pool_writes(claim, decision))

    assert (await counts(bare_pools, "news"), await counts(bare_pools, "sports")) == (
        PoolCounts(available=1),
        PoolCounts(),
    )


async def test_private_feeds_join_no_pool(bare_pools: PoolService, db: Database) -> None:
    claim = await claimed(db, f"https://example.org/feed{PRIVATE_URL_MARKER}1")
    await bare_pools.create("all", PoolRule())
    decision = updated(entry("For Alice alone"))

    await record_refresh(db, claim, decision, await bare_pools.gatherer.pool_writes(claim, decision))
    await bare_pools.gatherer.catch_up(NOW)

    assert await counts(bare_pools, "all") == PoolCounts()
