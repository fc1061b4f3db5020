"""The table of feeds, and changing many of them at once."""

from typing import Any

from lxml import html

from feedmill.store.subscriptions.folders import folders_of
from feedmill.store.subscriptions.read_subscriptions import subscriptions_of
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of


async def mine(site: Site, visitor: Visitor) -> list[Any]:
    return await subscriptions_of(site.app.db, (await visitor.user(site)).id)


def listed(tree: Any) -> list[str]:
    return [link.text for link in tree.xpath("//table//th[@scope='row']/a[1]")]


async def test_every_feed_has_its_row_with_figures(alice: Visitor) -> None:
    page = await alice.see("/feeds")

    assert listed(page) == ["Quiet Systems", "磨坊笔记"]
    first = page.xpath("//tbody/tr")[0]
    assert "Computing" in text_of(first)
    assert "Healthy" in text_of(first)
    assert first.xpath(".//*[local-name()='svg'][contains(@class, 'spark')]")
    assert "kB" in text_of(first)


async def test_the_table_is_sorted_and_filtered_by_query_parameters(alice: Visitor) -> None:
    [by_items] = (await alice.see("/feeds")).xpath("//th[contains(@class, 'c-items')]/a/@href")
    falling = await alice.see(by_items)
    [rising] = falling.xpath("//th[contains(@class, 'c-items')]/a/@href")

    assert listed(falling) == ["Quiet Systems", "磨坊笔记"]
    assert listed(await alice.see(rising)) == ["磨坊笔记", "Quiet Systems"]
    assert falling.xpath("//th[@aria-sort='descending']")
    assert listed(await alice.see("/feeds?q=quiet")) == ["Quiet Systems"]
    assert listed(await alice.see("/feeds?folder=2")) == ["磨坊笔记"]
    assert listed(await alice.see("/feeds?state=healthy&sort=nonsense&page=1")) == ["Quiet Systems", "磨坊笔记"]
    assert "No matching feeds" in text_of(await alice.see("/feeds?q=zzz"))


async def test_many_are_changed_at_once(site: Site, alice: Visitor) -> None:
    ids = [each.id for each in await mine(site, alice)]

    for do in ("pause", "interval:3600", "images:starred", "folder:1"):
        changed = await alice.send("/feeds", id=ids, do=do, next="/feeds?q=x")
        assert (changed.status_code, changed.headers["location"]) == (303, "/feeds?q=x")

    after = await mine(site, alice)
    assert {(each.paused, each.interval_seconds, each.archive_policy) for each in after} == {(True, 3600, "starred")}
    assert {each.folder_ids for each in after} == {(1,)}
    assert "2 feeds changed." in text_of(await alice.see("/feeds"))
    await alice.send("/feeds", id=ids, do="resume")
    await alice.send("/feeds", id=ids, do="folder:")
    assert {(each.paused, each.folder_ids) for each in await mine(site, alice)} == {(False, ())}


async def test_unsubscribing_asks_for_confirmation_and_offers_an_export(site: Site, alice: Visitor) -> None:
    first, second = await mine(site, alice)

    asked = html.fromstring((await alice.send("/feeds", id=[first.id], do="unsubscribe")).text)
    assert len(await mine(site, alice)) == 2
    [export] = asked.xpath("//a[contains(@href, '/export')]/@href")
    exported = (await alice.client.get(export)).text
    assert first.url in exported
    assert second.url not in exported
    left = await alice.send("/feeds/unsubscribe", id=asked.xpath("//main//input[@name='id']/@value"))

    assert left.status_code == 303
    assert [each.id for each in await mine(site, alice)] == [second.id]


async def test_chosen_feeds_are_refreshed_as_a_job(site: Site, alice: Visitor) -> None:
    started = await alice.send("/feeds", id=[(await mine(site, alice))[0].id], do="refresh")

    assert "of 1 feeds" in text_of(await alice.see(started.headers["location"]))


async def test_no_selection_and_invalid_input_change_nothing(alice: Visitor) -> None:
    await alice.send("/feeds", do="pause")
    assert "Select feeds first." in text_of(await alice.see("/feeds"))

    assert (await alice.send("/feeds", id="1", do="explode")).status_code == 422
    assert (await alice.send("/feeds", id="1", do="interval:5")).status_code == 422
    assert (await alice.send("/feeds", id="x", do="pause")).status_code == 422


async def test_other_users_cannot_change_a_feed(site: Site, alice: Visitor, charlie: Visitor) -> None:
    ids = [each.id for each in await mine(site, alice)]

    await charlie.send("/feeds", id=ids, do="pause")
    await charlie.send("/feeds/unsubscribe", id=ids)
    mixed = await alice.send("/feeds", id=ids, do="folder:99")

    assert "Nothing to read yet" in text_of(await charlie.see("/feeds"))
    assert mixed.status_code == 422
    assert [each.paused for each in await mine(site, alice)] == [False, False]


async def test_folders_are_created_nested_renamed_and_deleted(site: Site, alice: Visitor) -> None:
    db, user = site.app.db, await alice.user(site)
    await alice.send("/folders", name="  Reading   room ", parent="1")
    made = next(each for each in await folders_of(db, user.id) if each.name == "Reading room")
    assert made.parent_id == 1

    await alice.send(f"/folders/{made.id}", name="书房", parent="0")
    page = await alice.see("/folders")
    assert "书房" in page.xpath("//input[@name='name']/@value")
    await alice.send(f"/folders/{made.id}/delete")
    await alice.send("/folders/1/delete")

    assert [each.name for each in await folders_of(db, user.id)] == ["Craft"]
    assert len(await mine(site, alice)) == 2


async def test_an_invalid_folder_is_reported_next_to_it(alice: Visitor) -> None:
    again = await alice.send("/folders", name="Craft")
    inside = await alice.send("/folders/1", name="Computing", parent="1")
    unnamed = await alice.send("/folders", name=" ")

    assert [each.status_code for each in (again, inside, unnamed)] == [422] * 3
    assert "There is already a folder with this name." in again.text
    assert "A folder can’t be inside itself." in inside.text
    assert "A folder has a name of 1 to 190 characters." in unnamed.text


async def test_another_users_folder_is_not_found(alice: Visitor, charlie: Visitor) -> None:
    assert (await charlie.send("/folders/1", name="Mine now", parent="0")).status_code == 404
    assert (await charlie.send("/folders/1/delete")).status_code == 404
    assert (await charlie.client.get("/export?folder=1")).status_code == 404
    assert (await alice.send("/folders/9007199254740993/delete")).status_code == 404
