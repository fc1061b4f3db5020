"""`/api/folders`."""

from tests.serve.rest.sample_feeds import folder_of, subscribed
from tests.serve.rest.site import Person, Site


async def test_a_folder_is_moved_into_another_and_back_to_the_top(alice: Person) -> None:
    outer, inner = await folder_of(alice, "Outer"), await folder_of(alice, "Inner")

    inside = (await alice.patch(f"/folders/{inner}", {"parent_id": outer})).json()
    renamed = (await alice.patch(f"/folders/{inner}", {"name": "Other", "position": 3})).json()
    top = (await alice.patch(f"/folders/{inner}", {"parent_id": None})).json()

    assert (inside["parent_id"], renamed["parent_id"], top["parent_id"]) == (outer, outer, None)
    assert (top["name"], top["position"]) == ("Other", 3)


async def test_an_invalid_folder_has_its_error_code(alice: Person) -> None:
    outer = await folder_of(alice, "Outer")
    inner = await folder_of(alice, "Inner", outer)

    ring = await alice.patch(f"/folders/{outer}", {"parent_id": inner})
    twin = await alice.post("/folders", {"name": "Outer"})
    nowhere = await alice.post("/folders", {"name": "New", "parent_id": 999})

    assert (ring.status_code, ring.json()["code"]) == (409, "folder_in_itself")
    assert (twin.status_code, twin.json()["code"]) == (409, "folder_exists")
    assert nowhere.status_code == 404


async def test_deleting_a_folder_keeps_its_feeds(site: Site, alice: Person) -> None:
    folder, other = await folder_of(alice, "News"), await folder_of(alice, "Other")
    feed = await subscribed(alice, site, folder_ids=[folder, other])

    assert (await alice.delete(f"/folders/{folder}")).status_code == 204

    assert (await alice.get(f"/feeds/{feed['id']}")).json()["folder_ids"] == [other]
