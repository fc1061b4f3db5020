"""The same article in several feeds, over the API: lists are complete, and a mark marks what it names."""

import pytest

from tests.library.stories.story_library import StoryLibrary
from tests.serve.rest.sample_feeds import folder_of
from tests.serve.rest.site import Person, Site


@pytest.fixture
async def library(site: Site, alice: Person) -> StoryLibrary:
    library = StoryLibrary(site.app.db)
    await library.have(alice.user, "one", "two")
    for name in ("one", "two"):
        await library.publish(name, "bridge")
    return library


async def _unread(person: Person, more: str = "") -> list[str]:
    return [item["feed_title"] for item in (await person.get(f"/entries?view=unread{more}")).json()["items"]]


async def test_lists_are_complete_unless_stories_are_wanted_once(library: StoryLibrary, alice: Person) -> None:
    assert await _unread(alice) == ["two", "one"]
    assert await _unread(alice, "&stories=once") == ["one"]


async def test_an_entry_names_the_other_feeds(library: StoryLibrary, alice: Person, bob: Person) -> None:
    await library.have(bob.user, "two")
    one, two = library.entries["one: bridge"], library.entries["two: bridge"]

    seen = (await alice.get(f"/entries/{one}")).json()["also_in"]

    subscription = await library.subscription(alice.user, "two")
    wanted = {"id": two, "subscription_id": subscription, "feed_title": "two", "title": "bridge", "unread": True}
    assert seen == [wanted]
    assert (await bob.get(f"/entries/{two}")).json()["also_in"] == []


async def test_a_mark_reads_the_whole_story_only_if_it_says_so(library: StoryLibrary, alice: Person) -> None:
    one = library.entries["one: bridge"]

    await alice.patch(f"/entries/{one}", {"read": True})
    assert await _unread(alice) == ["two"]

    await alice.post("/entries/mark", {"ids": [one], "read": True, "whole_story": True})
    assert await _unread(alice) == []


async def test_a_feed_that_is_marked_reads_whole_stories_only_if_the_request_says_so(
    library: StoryLibrary, alice: Person
) -> None:
    feed = {"feed_id": await library.subscription(alice.user, "one")}

    done = (await alice.post("/entries/mark-all", feed)).json()
    assert await _unread(alice) == ["two"]
    await alice.post("/entries/undo", {"undo": done["undo"]})

    assert (await alice.post("/entries/mark-all", feed | {"whole_stories": True})).json()["marked"] == 2
    assert await _unread(alice) == []


async def test_a_feed_and_a_folder_are_left_out(library: StoryLibrary, alice: Person) -> None:
    feed = await library.subscription(alice.user, "one")

    assert (await alice.patch(f"/feeds/{feed}", {"same_story_once": False})).json()["same_story_once"] is False
    assert await _unread(alice, "&stories=once") == ["two", "one"]
    assert (await alice.patch(f"/feeds/{feed}", {"same_story_once": True})).json()["same_story_once"] is True
    assert await _unread(alice, "&stories=once") == ["one"]

    outer = await folder_of(alice, "Outer")
    inner = await folder_of(alice, "Inner", outer)
    await alice.patch(f"/feeds/{feed}", {"folder_ids": [inner]})
    await alice.patch(f"/folders/{outer}", {"same_story_once": False})
    folders = (await alice.get("/folders")).json()["items"]
    assert [folder["same_story_once"] for folder in folders] == [False, False]
    assert await _unread(alice, "&stories=once") == ["two", "one"]
