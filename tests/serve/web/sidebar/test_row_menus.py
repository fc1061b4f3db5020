"""The menus of feeds and folders in the sidebar, and what they do."""

import pytest

from feedmill.library.subscriptions.folders import ensure_folders, folders_of_user
from feedmill.library.subscriptions.lookup import find_subscription
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of


async def names_in(site: Site, alice: Visitor, parent_id: int) -> list[str]:
    folders = await folders_of_user(site.app.db, (await alice.user(site)).id)
    return [folder.name for folder in folders if folder.parent_id == parent_id]


async def test_the_menu_of_a_feed_has_what_can_be_done_with_it(alice: Visitor) -> None:
    page = await alice.see("/feed/1/menu")

    main = page.xpath("//main")[0]
    assert {"/feed/1", "/feed/1/edit", "/feed/1/health"} <= set(main.xpath(".//a/@href"))
    assert set(main.xpath(".//form/@action")) == {
        "/mark-all-read",
        "/refresh-all",
        "/feed/1/rename",
        "/feed/1/move",
        "/feeds",
    }
    assert "Unsubscribe" in text_of(main)


@pytest.mark.parametrize("path", ["/feed/1/menu", "/folder/1/menu"])
async def test_the_menu_is_for_its_owner_alone(charlie: Visitor, path: str) -> None:
    assert (await charlie.client.get(path)).status_code == 404


async def test_a_feed_is_renamed_and_has_its_own_name_again(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)

    await alice.send("/feed/1/rename", title="  Mine \n own ")
    assert (await find_subscription(site.app.db, user.id, 1)).title == "Mine own"
    await alice.send("/feed/1/rename", title="")

    assert (await find_subscription(site.app.db, user.id, 1)).own_title is None


async def test_a_feed_leaves_one_folder_for_another_and_stays_in_further_ones(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    made = await ensure_folders(site.app.db, user.id, [("One",), ("Two",), ("Three",)])
    one, two, three = made["One",], made["Two",], made["Three",]

    for left, entered in (("", one), ("", two), (one, three)):
        await alice.send("/feed/2/move", **{"from": left, "to": entered})

    assert {one, two, three} & set((await find_subscription(site.app.db, user.id, 2)).folder_ids) == {two, three}
    await alice.send("/feed/2/move", **{"from": str(two), "to": ""})
    assert two not in (await find_subscription(site.app.db, user.id, 2)).folder_ids


async def test_folders_are_put_in_an_order_of_ones_own(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    made = await ensure_folders(site.app.db, user.id, [("Top", name) for name in ("A", "B", "C 2", "C 10")])
    top, a, c10 = made["Top",], made["Top", "A"], made["Top", "C 10"]
    assert await names_in(site, alice, top) == ["A", "B", "C 2", "C 10"]

    await alice.send(f"/folders/{c10}/move", beside=str(a), place="before")
    await alice.send(f"/folders/{a}/move", beside=str(made["Top", "B"]), place="after")
    assert await names_in(site, alice, top) == ["C 10", "B", "A", "C 2"]
    await alice.send(f"/folders/{a}/move", beside=str(c10), place="into")
    assert await names_in(site, alice, c10) == ["A"]
    refused = await alice.send(f"/folders/{top}/move", beside=str(a), place="into")

    assert refused.status_code == 409
    await alice.send(f"/folders/{a}/move", beside="", place="into")
    assert "A" in await names_in(site, alice, 0)
