"""`/v1/entries`: what the parameters of a query select."""

from feedmill.library.entries.labels import ensure_label
from feedmill.library.entries.marks import apply_marks
from feedmill.model.entry_marks import EntryMarks
from tests.library.small_library import DAY, NOW, SmallLibrary
from tests.serve.miniflux.miniflux_app import MinifluxApp


async def test_tags_are_labels_and_categories_in_any_case(library: SmallLibrary, app: MinifluxApp) -> None:
    feed = await library.feed()
    await library.subscribe(app.user.user, feed)
    [river] = await library.arrive(feed, "river", categories=("Rivers", "Été", "100% wool"))
    [mill] = await library.arrive(feed, "mill", categories=("Mills", "rivers"))
    [plain] = await library.arrive(feed, "plain", categories=("Riversides",))
    label = await ensure_label(library.db, app.user.user.id, "To read")
    await apply_marks(library.db, app.user.user.id, [plain, mill], EntryMarks(add_labels=(label,)), library.now)

    assert set(await app.ids("tags=RIVERS")) == {river, mill}
    assert await app.ids("tags=rivers&tags=mills") == [mill]
    assert await app.ids("tags=%C3%89t%C3%A9") == [river]
    assert await app.ids("tags=100%25%20wool") == [river]
    assert set(await app.ids("tags=to%20read")) == {mill, plain}
    assert await app.ids("tags=to%20read&tags=Mills&status=unread") == [mill]
    assert (await app.get("/entries?tags=river"))["total"] == 0
    assert "To read" in (await app.get(f"/entries/{plain}"))["tags"]


async def test_labels_of_others_are_no_tags(library: SmallLibrary, app: MinifluxApp) -> None:
    feed = await library.feed()
    await library.subscribe(app.user.user, feed)
    [entry] = await library.arrive(feed, "shared")
    charlie = await library.person("charlie")
    await library.subscribe(charlie, feed)
    label = await ensure_label(library.db, charlie.id, "secret")
    await apply_marks(library.db, charlie.id, [entry], EntryMarks(add_labels=(label,)), library.now)

    assert await app.ids("tags=secret") == []


async def test_entries_are_listed_by_date_of_publication_unless_asked_otherwise(
    library: SmallLibrary, app: MinifluxApp
) -> None:
    feed = await library.feed()
    await library.subscribe(app.user.user, feed)
    [new] = await library.arrive(feed, "new", at=NOW)
    [old] = await library.arrive(feed, "old", at=NOW - DAY)

    assert await app.ids("") == [old, new]
    assert await app.ids("direction=desc") == [new, old]
    assert await app.ids("order=id") == [new, old]
    assert await app.ids("order=title&direction=desc") == [old, new]


async def test_ranges_of_ids_and_times_and_pages_limit_the_list(library: SmallLibrary, app: MinifluxApp) -> None:
    feed = await library.feed()
    await library.subscribe(app.user.user, feed)
    ids = [(await library.arrive(feed, title, at=NOW + place * DAY))[0] for place, title in enumerate("abcd")]
    second, third = (int((NOW + place * DAY).timestamp()) for place in (1, 2))

    assert await app.ids(f"before_entry_id={ids[2]}") == ids[:2]
    assert await app.ids(f"after_entry_id={ids[1]}&before_entry_id={ids[3]}") == [ids[2]]
    assert await app.ids(f"published_after={second}&published_before={third}") == ids[1:3]
    assert await app.ids(f"after={second}&before={third}") == ids[1:3]
    assert await app.ids("limit=2&offset=1") == ids[1:3]
    assert await app.ids("limit=0") == ids
    assert await app.ids("globally_visible=true&status=read&status=unread") == ids
    assert await app.ids("status=removed") == []
    assert await app.ids("starred=True") == await app.ids("starred=1") == []
    assert await app.ids("starred=False") == await app.ids("starred=f") == ids
