"""Services on their pages, and saving from lists and articles, without scripts."""

from feedmill.model.services.save_service import ServiceKind
from tests.library.services.service_setup import TOKEN, DocumentedService
from tests.scripted_web import Answer
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of

PATH = "/settings/services"


async def _add(site: Site, visitor: Visitor, name: str = "Links") -> str:
    """Adds Linkding and returns the path of its page."""
    sent = {"kind": "linkding", "name": name, "address": site.web.url("/"), "token": TOKEN, "by_key": "yes"}
    assert (await visitor.send(PATH, **sent)).status_code == 303
    return str((await visitor.see(PATH)).xpath("//tbody//th/a/@href")[-1])


async def test_an_article_is_saved_by_its_menu_and_the_outcome_is_shown(site: Site, alice: Visitor) -> None:
    documented = DocumentedService(ServiceKind.LINKDING)
    documented.serve(site.web)
    path = await _add(site, alice)
    menu = (await alice.see("/item/1")).xpath("//details[contains(@class, 'services')]")[0]
    [service] = menu.xpath(".//button/@value")

    await alice.send("/marks/save", id="1", service=service, next="/item/1")
    assert "The article is being saved to Links." in text_of(await alice.see("/item/1"))
    await site.app.services.send()

    menu = (await alice.see("/item/1")).xpath("//details[contains(@class, 'services')]")[0]
    assert "saved" in menu.text_content()
    assert len(documented.saved) == 1
    assert (await alice.see(path)).xpath("//tbody//th/a/@href") == ["/item/1"]


async def test_several_articles_are_saved_at_once_from_a_list(site: Site, alice: Visitor) -> None:
    documented = DocumentedService(ServiceKind.LINKDING)
    documented.serve(site.web)
    await _add(site, alice)
    page = await alice.see("/all")
    ids = page.xpath("//input[@class='pick']/@value")[:3]
    assert page.xpath("//*[@class='bulk']//button[@formaction='/marks/save']")

    await alice.send("/marks/save", id=ids, next="/all")
    await site.app.services.send()

    assert len(documented.saved) == 3


async def test_what_failed_is_shown_with_its_reason_and_tried_again(site: Site, alice: Visitor) -> None:
    path = await _add(site, alice)
    site.web.serve("/api/bookmarks/", Answer(status=400))
    await alice.send("/marks/save", id="1")
    await site.app.services.send()
    assert "the service answered with HTTP 400" in text_of(await alice.see(path))
    assert "the service answered with HTTP 400" in text_of(await alice.see("/item/1"))
    DocumentedService(ServiceKind.LINKDING).serve(site.web)

    await alice.send(f"{path}/retry")
    assert "One article is tried again." in text_of(await alice.see(path))
    await site.app.services.send()

    assert "HTTP 400" not in text_of(await alice.see(path))


async def test_without_a_service_the_key_says_where_to_add_one(alice: Visitor) -> None:
    await alice.send("/marks/save", id="1", next="/unread")

    page = await alice.see("/unread")
    assert "No service is set for the key S." in text_of(page)
    assert not page.xpath("//button[@formaction='/marks/save']")


async def test_secrets_are_in_no_page_and_stay_when_their_field_is_empty(site: Site, alice: Visitor) -> None:
    path = await _add(site, alice)

    changed = await alice.send(path, name="My links", address=site.web.url("/"), token="")
    page = await alice.client.get(path)

    assert changed.status_code == 303
    assert TOKEN not in page.text
    assert "Leave it empty to keep it." in page.text


async def test_an_invalid_service_is_reported_next_to_its_field(alice: Visitor) -> None:
    wrong = await alice.send(PATH, kind="linkding", name="Links", address="ftp://example.org/", token=TOKEN)
    template = await alice.send(PATH, kind="template", name="Mine", address="https://e.org/", body="{", method="POST")

    assert (wrong.status_code, template.status_code) == (422, 422)
    assert 'id="f-address"' in wrong.text
    assert 'aria-invalid="true"' in wrong.text
    assert "this is not valid JSON" in template.text
    assert TOKEN not in wrong.text


async def test_charlie_sees_and_changes_nothing_of_alices_services(
    site: Site, alice: Visitor, charlie: Visitor
) -> None:
    path = await _add(site, alice)

    assert (await charlie.client.get(path)).status_code == 404
    assert (await charlie.send(path, name="mine", address="https://e.org", token="t")).status_code == 404
    for action in ("retry", "delete"):
        assert (await charlie.send(f"{path}/{action}")).status_code == 404
    assert (await charlie.send("/marks/save", id="1", service=path.rpartition("/")[2])).status_code == 404
    assert "You have no services." in text_of(await charlie.see(PATH))
    assert (await alice.client.get(path)).status_code == 200


async def test_a_service_is_deleted(site: Site, alice: Visitor) -> None:
    await alice.send(f"{await _add(site, alice)}/delete")

    assert "You have no services." in text_of(await alice.see(PATH))
