"""The pages of filters without scripts: list, form, trial, order."""

from typing import Any

import pytest

from feedmill.library.entries.labels import labels_of_user
from feedmill.library.filters.filter_jobs import jobs_of_filter, running_filter_jobs
from feedmill.library.filters.manage_filters import filters_of_user
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.filters.entry_filter import EntryFilter, FilterActions, FilterKind, FilterScope, ScopeKind
from feedmill.model.services.save_service import ServiceKind
from feedmill.store.archive.database_load import end_loading
from feedmill.store.filters.filter_jobs import steps_to_note_untried
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor, text_of, titles

FORM: dict[str, Any] = {"name": "", "condition": "cache", "scope": "all", "action": ["star"], "new_label": ""}


async def filters_of(site: Site, visitor: Visitor) -> list[EntryFilter]:
    return await filters_of_user(site.app.db, (await visitor.user(site)).id, FilterKind.FILTER)


async def names(site: Site, visitor: Visitor) -> list[str]:
    return [each.name for each in await filters_of(site, visitor)]


async def test_without_filters_the_page_says_what_they_do(alice: Visitor) -> None:
    page = await alice.see("/filters")

    assert "No filters yet" in text_of(page)
    assert page.xpath("//div[@class='empty']//a/@href") == ["/filters/new"]
    assert page.xpath("//nav//a[@href='/filters']")


async def test_a_filter_is_created_with_all_that_the_form_has(site: Site, alice: Visitor) -> None:
    sent = FORM | {
        "name": "  Clever   things ",
        "condition": "in:title cache OR queue",
        "scope": "feed:1",
        "action": ["star", "hide", "raise_to_top", "full_text"],
        "new_label": "reading",
        "stops": "yes",
    }

    answer = await alice.send("/filters/new", **sent)

    [made], [label] = await filters_of(site, alice), await labels_of_user(site.app.db, (await alice.user(site)).id)
    assert answer.headers["location"] == f"/filters/{made.id}"
    assert (made.name, made.condition, made.stops, made.enabled) == (
        "Clever things",
        "in:title cache OR queue",
        True,
        True,
    )
    assert made.scope == FilterScope(ScopeKind.FEED, 1)
    assert made.actions == FilterActions(star=True, hide=True, raise_to_top=True, full_text=True, label_ids=(label.id,))


async def test_the_list_says_in_words_what_each_filter_does(site: Site, alice: Visitor) -> None:
    await alice.send("/filters/new", **FORM | {"name": "First", "new_label": "wood", "stops": "yes"})
    await alice.send("/filters/new", **FORM | {"condition": "mill", "scope": "folder:1", "action": ["read"]})

    first, second = (await alice.see("/filters")).xpath("//ol[@data-reorder]/li")

    assert "First cache in all feeds star, label “wood”, stop here Nothing has matched yet." in text_of(first)
    assert "mill mill in the folder Computing mark as read" in text_of(second)


async def test_the_form_shows_a_filter_as_it_was_saved(alice: Visitor) -> None:
    made = await alice.send("/filters/new", **FORM | {"scope": "feed:1", "action": ["later", "notify"], "stops": "yes"})

    page = await alice.see(made.headers["location"])

    assert page.xpath("//input[@name='condition']/@value") == ["cache"]
    assert page.xpath("//select[@name='scope']//option[@selected]/@value") == ["feed:1"]
    assert page.xpath("//input[@name='action'][@checked]/@value") == ["later", "notify"]
    assert len(page.xpath("//input[@name='stops'][@checked]")) == 1


async def test_a_filter_is_changed_and_stays_off_if_it_was_off(site: Site, alice: Visitor) -> None:
    path = (await alice.send("/filters/new", **FORM)).headers["location"]
    await alice.send(f"{path}/off")

    await alice.send(path, **FORM | {"name": "Other", "condition": "queue", "action": ["read"]})

    [changed] = await filters_of(site, alice)
    assert (changed.name, changed.condition, changed.actions, changed.enabled) == (
        "Other",
        "queue",
        FilterActions(read=True),
        False,
    )
    assert "This filter is off." in text_of(await alice.see(path))


async def test_a_filter_says_that_its_expressions_took_too_long(site: Site, alice: Visitor) -> None:
    path = (await alice.send("/filters/new", **FORM)).headers["location"]
    [own] = await filters_of(site, alice)

    await site.app.db.batch(steps_to_note_untried({own.id: 3}, site.app.tools.clock()))
    page = await alice.see(path)
    await alice.send(f"{path}/apply")
    after = await alice.see(path)

    assert "This filter was not tried on 3 new items." in text_of(page)
    assert "This filter was not tried" not in text_of(after)


async def test_a_filter_that_is_off_is_saved_but_not_applied(site: Site, alice: Visitor) -> None:
    path = (await alice.send("/filters/new", **FORM)).headers["location"]
    before = await alice.see(path)
    await alice.send(f"{path}/off")

    saved = await alice.send(path, **FORM | {"name": "Other", "stored": "yes"})
    page = await alice.see(path)

    assert saved.status_code == 303
    assert (await names(site, alice), await running_filter_jobs(site.app.db, (await alice.user(site)).id)) == (
        ["Other"],
        [],
    )
    apply = "//input[@name='stored'] | //form[contains(@action, '/apply')]"
    assert (len(before.xpath(apply)), len(page.xpath(apply))) == (2, 0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"action": []}, "Choose at least one action."),
        ({"name": "x" * 191}, "A name has at most 190 characters."),
        ({"condition": '"open'}, "(at character 1)"),
        ({"condition": "is:unread cache"}, "(at character 1)"),
    ],
)
async def test_what_is_wrong_is_said_beside_what_was_written(
    site: Site, alice: Visitor, wrong: dict[str, Any], said: str
) -> None:
    answer = await alice.send("/filters/new", **FORM | wrong)

    assert answer.status_code == 422
    assert said in " ".join(answer.text.split())
    assert await filters_of(site, alice) == []


@pytest.mark.parametrize("wrong", [{"name": "x" * 191}, {"condition": '"open'}])
async def test_a_label_is_created_only_with_its_filter(site: Site, alice: Visitor, wrong: dict[str, str]) -> None:
    await alice.send("/filters/new", **FORM | {"new_label": "wood"} | wrong)

    assert await labels_of_user(site.app.db, (await alice.user(site)).id) == []


async def test_a_mistake_is_marked_at_its_place(alice: Visitor) -> None:
    page = await alice.see("/filters/new", params={"q": "cache is:unread"})

    [place] = page.xpath("//div[@id='mistake']//code")
    assert (place.text, place.xpath("span[@class='at']/text()")) == ("cache ", ["i"])
    assert page.xpath("//input[@name='condition']/@aria-invalid") == ["true"]


@pytest.mark.parametrize("is_fragment", [True, False])
async def test_a_trial_shows_what_would_have_matched_and_saves_nothing(
    site: Site, alice: Visitor, is_fragment: bool
) -> None:
    headers = {"HX-Request": "true"} if is_fragment else {}
    sent = {"csrf": alice.csrf()} | FORM | {"condition": "in:title cache OR 耐心"}

    answer = await alice.client.post("/filters/new/try", data=sent, headers=headers)

    assert "It would have matched 2 items." in answer.text
    assert "In 2 feeds" in answer.text
    assert "Against the clever cache" in answer.text
    assert ("<html" in answer.text) is not is_fragment
    assert await filters_of(site, alice) == []


async def test_a_search_becomes_a_filter_of_its_place(alice: Visitor) -> None:
    [href] = (await alice.see("/search?q=cache&in=/feed/1")).xpath("//a[contains(., 'Make a filter')]/@href")

    page = await alice.see(href)

    assert page.xpath("//input[@name='condition']/@value") == ["cache"]
    assert page.xpath("//select[@name='scope']//option[@selected]/@value") == ["feed:1"]


async def test_the_rules_of_a_feed_lead_to_a_filter_for_it(alice: Visitor) -> None:
    [href] = (await alice.see("/feed/1/edit")).xpath("//a[starts-with(@href, '/filters/new')]/@href")

    assert (await alice.see(href)).xpath("//select[@name='scope']//option[@selected]/@value") == ["feed:1"]


async def test_filters_are_moved_and_ordered(site: Site, alice: Visitor) -> None:
    for name in "abc":
        await alice.send("/filters/new", **FORM | {"name": name})
    first, _, last = [each.id for each in await filters_of(site, alice)]

    await alice.send(f"/filters/{first}/move", to="up")
    await alice.send(f"/filters/{last}/move", to="up")
    moved = await names(site, alice)
    await alice.send("/filters/order", id=[last, first])

    assert moved == ["a", "c", "b"]
    assert await names(site, alice) == ["c", "a", "b"]


async def test_a_filter_is_turned_off_and_on(site: Site, alice: Visitor) -> None:
    path = (await alice.send("/filters/new", **FORM)).headers["location"]

    await alice.send(f"{path}/switch", on="no")
    off = (await filters_of(site, alice))[0].enabled
    shown = (await alice.see("/filters")).xpath("//button[@role='switch']/@aria-checked")
    await alice.send(f"{path}/switch", on="yes")

    assert (off, shown) == (False, ["false"])
    assert (await filters_of(site, alice))[0].enabled


async def test_a_filter_is_applied_to_what_is_there_when_it_is_saved_or_later(site: Site, alice: Visitor) -> None:
    user = await alice.user(site)
    path = (await alice.send("/filters/new", **FORM | {"stored": "yes"})).headers["location"]
    [made] = await filters_of(site, alice)
    [job] = await jobs_of_filter(site.app.db, user.id, made.id)

    answer = await alice.send(f"{path}/apply")

    assert (job.kind, job.filter_name) == ("apply", "cache")
    assert answer.headers["location"] == f"{path}#jobs"
    assert "cache:" in text_of((await alice.see(path)).xpath("//section[@id='jobs']")[0])


async def test_what_was_applied_to_stored_items_is_shown_and_undone(site: Site, alice: Visitor) -> None:
    worker = FilterJobWorker(site.app.db, site.app.settings.later_for)
    path = (await alice.send("/filters/new", **FORM | {"stored": "yes"})).headers["location"]

    await worker.work()
    applied = await alice.see(path)
    starred = titles(await alice.see("/starred"))
    [undo] = applied.xpath("//section[@id='jobs']//form[contains(@action, '/undo')]/@action")
    await alice.send(undo)
    await worker.work()

    assert "cache: applied to what was there; 1 item changed" in text_of(applied)
    assert starred == ["Against the clever cache"]
    assert "cache: undone; 1 item is as it was before" in text_of(await alice.see(path))
    assert titles(await alice.see("/starred")) == []


async def test_the_page_says_that_a_filter_waits_for_the_search_index(site: Site, alice: Visitor) -> None:
    await end_loading(site.app.db)

    path = (await alice.send("/filters/new", **FORM | {"stored": "yes"})).headers["location"]

    assert "Waits until all stored items are in the search index." in text_of(await alice.see(path))


async def test_a_deleted_filter_takes_back_what_it_did(site: Site, alice: Visitor) -> None:
    worker = FilterJobWorker(site.app.db, site.app.settings.later_for)
    path = (await alice.send("/filters/new", **FORM | {"stored": "yes"})).headers["location"]
    await worker.work()

    await alice.send(f"{path}/delete", revert="yes")
    running = text_of(await alice.see("/filters"))
    await worker.work()

    assert "cache: taking back what it did" in running
    assert titles(await alice.see("/starred")) == []


async def test_a_filter_whose_folder_is_gone_does_not_become_one_of_all_feeds(site: Site, alice: Visitor) -> None:
    path = (await alice.send("/filters/new", **FORM | {"scope": "folder:1"})).headers["location"]
    await alice.send("/folders/1/delete")

    page = await alice.see(path)
    answer = await alice.send(path, **FORM | {"scope": ""})

    assert page.xpath("//select[@name='scope']//option[@selected]/@value") == [""]
    assert (answer.status_code, "no longer exists" in answer.text) == (422, True)
    assert "that was deleted, so nothing matches" in text_of(await alice.see("/filters"))


async def test_a_deleted_filter_is_gone(site: Site, alice: Visitor) -> None:
    path = (await alice.send("/filters/new", **FORM)).headers["location"]

    answer = await alice.send(f"{path}/delete", revert="yes")

    assert answer.headers["location"] == "/filters"
    assert await filters_of(site, alice) == []
    assert (await alice.client.get(path)).status_code == 404


async def test_a_filter_saves_to_the_services_of_its_owner(site: Site, alice: Visitor, charlie: Visitor) -> None:
    owner = (await alice.user(site)).id
    options = {"address": "https://links.example", "token": "t0ken"}
    service = await site.app.services.create(owner, ServiceKind.LINKDING, "My links", options)

    await alice.send("/filters/new", **FORM | {"action": [], "service": [str(service.id)]})

    [made] = await filters_of(site, alice)
    assert made.actions == FilterActions(service_ids=(service.id,))
    page = await alice.see(f"/filters/{made.id}")
    assert page.xpath("//input[@name='service'][@checked]/@value") == [str(service.id)]
    assert "save to “My links”" in text_of(await alice.see("/filters"))
    assert (await charlie.send("/filters/new", **FORM | {"service": [str(service.id)]})).status_code == 404
    assert (await charlie.see("/filters/new")).xpath("//input[@name='service']") == []
