"""All forms of the rule for who may see an entry agree."""

from sqlalchemy import BigInteger, Select, bindparam, select, text

from feedmill.library.entries.marks import apply_marks
from feedmill.model.entry_marks import EntryMarks
from feedmill.store.database import Database, Step
from feedmill.store.entries.labels import add_label
from feedmill.store.entries.visibility import is_visible, visible_entry_ids
from feedmill.store.entries.visible_entries import read_listed_entries, visible_entries, visible_entry
from feedmill.store.schema import entries
from tests.library.small_library import NOW, SmallLibrary

USER = bindparam("user_id", type_=BigInteger())
BY_CONDITION = select(entries.c.id).where(is_visible(USER))
BY_LIST = select(visible_entry_ids(USER).subquery("visible"))


async def test_every_form_selects_the_same_entries(any_db: Database) -> None:
    library = SmallLibrary(any_db)
    alice, bob, charlie = [await library.person(name) for name in ("alice", "bob", "charlie")]
    feed = await library.feed()
    await library.subscribe(alice, feed)
    subscribed = await library.subscribe(bob, feed)
    ids = await library.arrive(feed, "none", "read", "starred", "later", "labelled", "labelled by alice")
    _, read, starred, later, labelled, labelled_by_alice = ids
    label, label_of_alice = [(await add_label(any_db, user.id, "red")).id for user in (bob, alice)]
    await apply_marks(any_db, bob.id, [read], EntryMarks(read=True), NOW)
    await apply_marks(any_db, bob.id, [starred], EntryMarks(starred=True), NOW)
    await apply_marks(any_db, bob.id, [later], EntryMarks(later=True), NOW)
    await apply_marks(any_db, bob.id, [labelled], EntryMarks(add_labels=(label,)), NOW)
    await apply_marks(any_db, alice.id, [labelled_by_alice], EntryMarks(add_labels=(label_of_alice,)), NOW)
    await any_db.batch([Step(text(f"DELETE FROM subscriptions WHERE id = {subscribed}"))])

    seen = {user.name: await _seen_in_every_form(any_db, user.id, ids) for user in (alice, bob, charlie)}

    assert seen == {"alice": [set(ids)] * 5, "bob": [{starred, later, labelled}] * 5, "charlie": [set()] * 5}


async def _seen_in_every_form(db: Database, user_id: int, ids: list[int]) -> list[set[int]]:
    return [
        await _ids(db, BY_CONDITION, user_id),
        await _ids(db, BY_LIST, user_id),
        set(await visible_entries(db, user_id, ids)),
        {id for id, entry in (await read_listed_entries(db, user_id, ids)).items() if entry is not None},
        {id for id in ids if await visible_entry(db, user_id, id) is not None},
    ]


async def _ids(db: Database, statement: Select[tuple[int]], user_id: int) -> set[int]:
    return {row["id"] for row in await db.query(statement, {"user_id": user_id})}
