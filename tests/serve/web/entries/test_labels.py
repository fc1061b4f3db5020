"""The labels page: create, rename, delete."""

from tests.serve.web.visitor import Visitor, text_of


async def test_a_label_is_created_renamed_and_deleted(alice: Visitor) -> None:
    made = await alice.send("/labels", name="  To   cook ")
    assert "The label “To cook” was created." in text_of(await alice.see(made.headers["location"]))

    await alice.send("/labels/1", name="菜谱")
    page = await alice.see("/labels")
    assert page.xpath("//input[@name='name']/@value")[0] == "菜谱"
    assert page.xpath("//nav//a[@href='/label/1']//text()")[-1] == "菜谱"
    assert "0 items" in text_of(page)

    await alice.send("/labels/1/delete")
    page = await alice.see("/labels")
    assert "The label “菜谱” was deleted." in text_of(page)
    assert "No labels yet" in text_of(page)


async def test_a_duplicate_or_empty_name_is_reported_next_to_its_field(alice: Visitor) -> None:
    await alice.send("/labels", name="a")
    await alice.send("/labels", name="b")

    taken = await alice.send("/labels/2", name="a")
    again = await alice.send("/labels", name="a")
    none = await alice.send("/labels", name=" ")

    assert [answer.status_code for answer in (taken, again, none)] == [422, 422, 422]
    assert 'id="wrong-2">There is already a label with this name.' in taken.text
    assert 'id="wrong-new">There is already a label with this name.' in again.text
    assert 'id="wrong-new">A label needs a name' in none.text


async def test_other_users_cannot_change_a_label(alice: Visitor, charlie: Visitor) -> None:
    await alice.send("/labels", name="mine")

    assert (await charlie.send("/labels/1", name="theirs")).status_code == 404
    assert (await charlie.send("/labels/1/delete")).status_code == 404
    assert "No labels yet" in text_of(await charlie.see("/labels"))
    assert "mine" in text_of(await alice.see("/labels"))
