"""Texts that other programs put into pools: checked, handed out as they were sent, with all guarantees of pools."""

import pytest
from redis.asyncio import Redis

from feedmill.errors import BadInput
from feedmill.model.pool import ContentFormat, Guarantee, PoolCounts, PoolKind, PoolOptions, PoolRule, PoolText
from feedmill.pools import service
from feedmill.pools.errors import PoolEmpty, PoolFull
from feedmill.pools.program_texts import MAX_BATCH_ID, MAX_TEXT_LENGTH, checked_text
from feedmill.pools.service import PoolService
from feedmill.store.database import Database
from tests.pools.pool_rows import NOW, add_entries

TITLES, CONTENTS = PoolKind.TITLES, PoolKind.CONTENTS
PROGRAMS_ONLY = PoolRule(no_entries=True)


def texts(*sent: str) -> list[PoolText]:
    return [checked_text(CONTENTS, text, None, 1) for text in sent]


async def test_a_group_without_entries_has_only_texts_of_programs(any_pools: PoolService, db: Database) -> None:
    await any_pools.create("mine", PROGRAMS_ONLY)
    await add_entries(db, ["an entry"])
    await any_pools.maintainer.run_once()

    stored = await any_pools.add_texts("mine", TITLES, texts("one", "two", "one"), "writer")
    await any_pools.maintainer.run_once()

    assert (stored.added, stored.known) == (2, 1)
    assert [item.text for item in await any_pools.pop("mine", TITLES, 9)] == ["one", "two"]
    with pytest.raises(PoolEmpty):
        await any_pools.pop("mine", TITLES)


async def test_a_title_is_handed_out_as_it_was_sent_and_contents_are_safe_html(
    any_pools: PoolService, db: Database
) -> None:
    await any_pools.create("mine", PROGRAMS_ONLY)
    sent = "<b>5 &lt; 6</b><script>alert(1)</script>"
    for kind in PoolKind:
        await any_pools.add_texts("mine", kind, texts(sent), "writer")
    await any_pools.maintainer.run_once()

    [title] = await any_pools.pop("mine", TITLES)
    [content] = await any_pools.pop("mine", CONTENTS)

    assert (title.text, content.text) == (sent, "<b>5 &lt; 6</b>")


async def test_contents_are_plain_text_by_setting(any_pools: PoolService, db: Database) -> None:
    await any_pools.create("mine", PROGRAMS_ONLY, contents=PoolOptions(form=ContentFormat.TEXT))
    await any_pools.add_texts("mine", CONTENTS, texts("<p>one</p>"), "writer")

    [content] = await any_pools.pop("mine", CONTENTS)

    assert content.text == "one"


async def test_texts_are_leased_and_come_back(any_pools: PoolService, db: Database) -> None:
    lease = PoolOptions(guarantee=Guarantee.LEASE)
    await any_pools.create("mine", PROGRAMS_ONLY, lease, lease)
    await any_pools.add_texts("mine", TITLES, texts("one", "two"), "writer")

    leased = await any_pools.lease("mine", TITLES, 2)
    ids = [item.id for item in leased.items]
    await any_pools.ack("mine", TITLES, leased.token, ids[:1])
    await any_pools.nack("mine", TITLES, leased.token, ids[1:])

    assert [item.text for item in (await any_pools.lease("mine", TITLES)).items] == ["two"]


async def test_texts_survive_the_loss_of_redis_and_are_handed_out_once(pools: PoolService, redis: Redis) -> None:
    await pools.create("mine", PROGRAMS_ONLY)
    await pools.add_texts("mine", TITLES, texts("one", "two", "three"), "writer")
    await pools.maintainer.run_once()
    first = await pools.pop("mine", TITLES)
    await redis.flushall()

    rest = await pools.pop("mine", TITLES, 9)

    assert [item.text for item in [*first, *rest]] == ["one", "two", "three"]
    again = await pools.add_texts("mine", TITLES, texts("one", "two", "three"), "writer")
    assert (again.added, (await pools.status("mine", TITLES)).counts) == (0, PoolCounts(used=3))


async def test_a_consumer_gets_texts_of_programs(any_pools: PoolService, db: Database) -> None:
    await any_pools.create("mine", PROGRAMS_ONLY)
    await any_pools.add_texts("mine", TITLES, texts("one", "two"), "writer")
    await any_pools.maintainer.run_once()

    async with any_pools.consumer("mine", wait=False) as items:
        assert [item.text async for item in items] == ["one", "two"]


async def test_a_full_pool_takes_no_more(any_pools: PoolService, db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_WAITING_ITEMS", 1)
    await any_pools.create("mine", PROGRAMS_ONLY)
    await any_pools.add_texts("mine", TITLES, texts("one", "two"), "writer")

    with pytest.raises(PoolFull, match="pool_full"):
        await any_pools.add_texts("mine", TITLES, texts("three"), "writer")

    await any_pools.pop("mine", TITLES)
    assert (await any_pools.add_texts("mine", TITLES, texts("three"), "writer")).added == 1


async def test_the_newest_text_names_its_sender_without_the_token(any_pools: PoolService, db: Database) -> None:
    await any_pools.create("mine", PROGRAMS_ONLY)
    assert await any_pools.newest_text("mine", TITLES) is None

    await any_pools.add_texts("mine", TITLES, texts("one"), "writer")

    newest = await any_pools.newest_text("mine", TITLES)
    assert newest is not None
    assert (newest.source, newest.added_at) == ("writer", NOW)


@pytest.mark.parametrize(
    ("text", "id", "batch_id", "field"),
    [
        ("", "1", 1, "text"),
        (" \n\t", "1", 1, "text"),
        ("x" * (MAX_TEXT_LENGTH[TITLES] + 1), "1", 1, "text"),
        ("nul \x00", "1", 1, "text"),
        ("half \ud83d", "1", 1, "text"),
        ("fine", "", 1, "id"),
        ("fine", "  ", 1, "id"),
        ("fine", "x" * 191, 1, "id"),
        ("fine", "line\nfeed", 1, "id"),
        ("fine", "half \udfff", 1, "id"),
        ("fine", "1", -1, "batch_id"),
        ("fine", "1", MAX_BATCH_ID + 1, "batch_id"),
    ],
)
def test_what_cannot_be_stored_or_handed_out_is_refused(text: str, id: str, batch_id: int, field: str) -> None:
    with pytest.raises(BadInput) as refused:
        checked_text(TITLES, text, id, batch_id)

    assert refused.value.field == field


def test_limits_are_inclusive_and_an_id_is_trimmed() -> None:
    longest = "汉" * MAX_TEXT_LENGTH[TITLES]

    assert checked_text(TITLES, longest, f" {'x' * 190} ", MAX_BATCH_ID) == PoolText("x" * 190, longest, MAX_BATCH_ID)


def test_without_an_id_the_same_text_is_the_same_item() -> None:
    ids = [checked_text(TITLES, text, None, 1).external_id for text in ("one", "one", "two")]

    assert ids[0] == ids[1] != ids[2]
    assert len(ids[0]) <= 190
