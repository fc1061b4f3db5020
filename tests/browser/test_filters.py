"""Filters in a browser: try, save, order, switch, apply and undo; what they did; muting from an article."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from feedmill.i18n.messages import Message
from feedmill.library.filters.manage_filters import create_filter, filters_of_user
from feedmill.library.filters.mutes import mute
from feedmill.library.filters.work_on_jobs import FilterJobWorker
from feedmill.model.filters.entry_filter import EntryFilter, FilterActions, FilterDraft, FilterKind, FilterSubject
from feedmill.model.user import Caller
from feedmill.store.filters.filter_jobs import fail_filter_job, take_filter_job
from tests.browser import sample_feeds
from tests.browser.axe import serious
from tests.browser.browser_user import BrowserUser
from tests.browser.site_server import SiteServer
from tests.browser.test_touch import TouchInput, middle

BrowserUserMaker = Callable[..., BrowserUser]
PATHS = ("/filters", "/filters/new", "/filters/new?q=is:unread", "/filters/1", "/muted")
NAMES = ["One", "Two", "Three"]
FOLLOWED = "Notes on reading other people’s migrations"


@pytest.fixture(scope="module", autouse=True)
def three_filters(site_server: SiteServer) -> None:
    """Three filters that match nothing, and a muted word."""

    async def add() -> None:
        app, alice = site_server.site.app, await sample_feeds.find_user(site_server.site)
        for name in NAMES:
            draft = FilterDraft(name, f"zeppelin {name}", actions=FilterActions(star=True, notify=True))
            await create_filter(app.db, Caller(alice, alice.scopes), draft, datetime.now(UTC))
        await mute(app.db, alice.id, FilterSubject("word", "zeppelin"), datetime.now(UTC))

    site_server.do(add())


def stored(site_server: SiteServer, kind: FilterKind = FilterKind.FILTER) -> list[EntryFilter]:
    async def read() -> list[EntryFilter]:
        alice = await sample_feeds.find_user(site_server.site)
        return await filters_of_user(site_server.site.app.db, alice.id, kind)

    return site_server.do(read())


def work_on_jobs(site_server: SiteServer) -> None:
    """Does what the background of a server does with the jobs of filters."""
    app = site_server.site.app
    worker = FilterJobWorker(app.db, app.settings.later_for)
    while site_server.do(worker.work()):
        pass


def shown(page: Page) -> list[str]:
    return page.locator(".filter-card .name").all_inner_texts()


def put_in_order(page: Page, site_server: SiteServer) -> None:
    """The three filters as they were at first."""
    ids = {each.name: each.id for each in stored(site_server)}
    page.goto("/filters")
    page.evaluate(
        "([ids, csrf]) => fetch('/filters/order', {method: 'POST', headers: {'HX-Request': 'true'},"
        " body: new URLSearchParams([['csrf', csrf], ...ids.map((id) => ['id', id])])})",
        [[ids[name] for name in NAMES], page.locator("meta[name=csrf]").get_attribute("content")],
    )
    page.reload()
    assert shown(page)[:3] == NAMES


def test_axe_finds_nothing_serious(browser_user: BrowserUserMaker) -> None:
    page = browser_user().page

    found = {}
    for path in PATHS:
        page.goto(path)
        found[path] = serious(page)
    page.goto("/filters")
    page.locator(".filter-card summary").first.click()
    found["a menu"] = serious(page)
    page.goto("/item/1?in=/all")
    page.keyboard.press("q")
    expect(page.locator(".part.mute input[name=text]")).to_be_focused()
    found["the menu of an article"] = serious(page)

    assert {path: problems for path, problems in found.items() if problems} == {}


def test_a_filter_is_tried_in_place_before_it_is_saved(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user(at="/filters/new").page
    page.get_by_label("Condition").fill('"open')
    page.get_by_role("button", name="Try it first").click()
    expect(page.locator("#trial .mistake .at")).to_have_text('"')

    page.get_by_label("Condition").fill("in:title larch OR 落叶松")
    page.get_by_role("button", name="Try it first").click()
    expect(page.locator("#trial .previewed")).to_have_text("It would have matched 3 items.")
    expect(page.locator("#trial .matched li")).to_have_count(3)
    assert [each.name for each in stored(site_server)] == NAMES

    page.get_by_label("Star ").check()
    page.get_by_label("Name").fill("Larch")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Larch")
    assert [each.name for each in stored(site_server)] == [*NAMES, "Larch"]


def test_the_order_is_changed_with_the_arrow_keys(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user().page
    put_in_order(page, site_server)
    grip = page.get_by_role("button", name="Move One")
    grip.focus()

    with page.expect_response("**/filters/order"):
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")

    expect(grip).to_be_focused()
    expect(page.locator("[data-moved]")).to_contain_text("Place 2 of")
    assert shown(page)[:3] == ["Two", "One", "Three"]
    assert [each.name for each in stored(site_server)][:3] == ["Two", "One", "Three"]


def test_the_order_is_changed_by_dragging(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user().page
    put_in_order(page, site_server)
    x, y = middle(page.get_by_role("button", name="Move Three"))

    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, middle(page.locator(".filter-card").nth(1))[1] - 20, steps=8)
    page.mouse.move(x, middle(page.locator(".filter-card").first)[1] - 40, steps=8)
    with page.expect_response("**/filters/order"):
        page.mouse.up()

    assert [each.name for each in stored(site_server)][:3] == ["Three", "One", "Two"]


def test_the_order_is_changed_with_a_finger(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user(width=360, height=740, has_touch=True, is_mobile=True).page
    put_in_order(page, site_server)
    touch = TouchInput(page.context.new_cdp_session(page))
    x, y = middle(page.get_by_role("button", name="Move One"))
    _, end = middle(page.locator(".filter-card").nth(1))

    with page.expect_response("**/filters/order"):
        touch.drag(x, y, along=end + 20 - y)

    assert [each.name for each in stored(site_server)][:3] == ["Two", "One", "Three"]


def test_a_filter_is_switched_in_place(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user(at="/filters").page
    switch = page.get_by_role("switch", name="One")

    switch.focus()
    page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-checked", "false")
    expect(switch).to_be_focused()
    assert not next(each for each in stored(site_server) if each.name == "One").enabled

    page.keyboard.press("Space")
    expect(switch).to_have_attribute("aria-checked", "true")


def test_a_word_is_muted_in_two_clicks_and_the_mute_is_undone(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    page = browser_user(at="/all", width=1440).page
    page.get_by_role("link", name="Backpressure, explained with a bakery").click()
    page.locator(".article-menu > summary").click()
    page.locator(".subjects").get_by_role("button", name="bakery").click()

    expect(page.locator(".toast")).to_contain_text("“bakery” is muted.")
    assert "bakery" in [each.name for each in stored(site_server, FilterKind.MUTE)]

    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("It was deleted.")
    assert "bakery" not in [each.name for each in stored(site_server, FilterKind.MUTE)]


def test_muting_the_same_again_says_what_held_before_and_is_undone(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    """The muted word of this file, for good, is muted from an article for a week."""
    alice = browser_user(at="/all", width=1440)
    page = alice.page
    alice.press("j")
    page.wait_for_selector(".pane .article")
    alice.press("q")
    page.get_by_role("radio", name="A week").check()
    page.locator(".part.mute input[name=text]").fill("zeppelin")
    page.keyboard.press("Enter")

    expect(page.locator(".toast")).to_contain_text("“zeppelin” was muted for good. Now it is muted only for a week.")

    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("“zeppelin” is as it was before.")
    assert [each.expires_at for each in stored(site_server, FilterKind.MUTE) if each.name == "zeppelin"] == [None]


def test_another_word_is_followed_for_a_week_by_keyboard(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    alice = browser_user(at="/all", width=1440)
    page = alice.page
    alice.press("j")
    page.wait_for_selector(".pane .article")

    alice.press("q")
    expect(page.locator(".part.mute input[name=text]")).to_be_focused()
    page.get_by_role("radio", name="Follow").check()
    page.get_by_role("radio", name="A week").check()
    page.locator(".part.mute input[name=text]").fill("water wheel")
    page.keyboard.press("Enter")

    expect(page.locator(".toast")).to_contain_text("You follow “water wheel” for a week.")
    [made] = stored(site_server, FilterKind.FOLLOW)
    assert (made.name, made.expires_at is None) == ("water wheel", False)


def test_a_filter_is_applied_to_what_is_there_with_progress_and_undone(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    page = browser_user(at="/filters/new?q=in:title+flood").page
    page.get_by_label("Star ").check()
    page.get_by_label("Also apply it").check()
    page.get_by_role("button", name="Save").click()
    line = page.locator(".filter-job").first
    expect(line.locator("progress")).to_be_visible()

    work_on_jobs(site_server)
    expect(line).to_contain_text("applied to what was there; 1 item changed")
    line.get_by_role("button", name="Undo").click()
    expect(page.locator(".filter-job").first.locator("progress")).to_be_visible()
    work_on_jobs(site_server)
    expect(page.locator(".filter-job").first).to_contain_text("undone; 1 item is as it was before")


def fail_next_job(site_server: SiteServer) -> None:
    """What happens to a job that the database refuses again and again."""

    async def fail() -> None:
        app, now = site_server.site.app, datetime.now(UTC)
        job = await take_filter_job(app.db, now)
        assert job is not None
        await fail_filter_job(app.db, job, Message("job.own_failure", reason="too many pears"), now)

    site_server.do(fail())


def test_a_job_that_failed_says_why_and_is_started_again(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    own = stored(site_server)[0]
    page = browser_user(at=f"/filters/{own.id}", width=1440).page
    page.get_by_role("button", name="Apply to what is there").click()
    expect(page.locator(".filter-job progress")).to_be_visible()
    fail_next_job(site_server)
    expect(page.locator(".filter-job").first).to_contain_text("failed; 0 items were changed")
    expect(page.locator(".filter-job").first).to_contain_text("an error on this server: too many pears")

    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".filter-job progress")).to_be_visible()
    work_on_jobs(site_server)

    expect(page.locator(".filter-job").first).to_contain_text("applied to what was there")


def test_what_a_filter_did_is_taken_back_in_the_article(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    page = browser_user(at="/filters/new?q=in:title+clever", width=1440).page
    page.get_by_label("Star ").check()
    page.get_by_label("Also apply it").check()
    page.get_by_label("Name").fill("Clever ones")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("h1")).to_have_text("Clever ones")
    work_on_jobs(site_server)
    page.goto("/all")
    page.get_by_role("link", name="Against the clever cache").click()
    star = page.locator(".article-bar button.star")
    expect(star).to_have_attribute("aria-pressed", "true")

    effect = page.locator(".effects li", has_text="Starred by the filter Clever ones")
    effect.get_by_role("button", name="Undo").click()

    expect(effect).to_have_count(0)
    expect(star).to_have_attribute("aria-pressed", "false")
    expect(page.locator(".row.current.starred")).to_have_count(0)


def test_everything_works_without_scripts(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user(at="/filters/new", java_script_enabled=False).page
    page.locator("input[name=condition]").fill("in:title sluice")
    page.get_by_role("button", name="Try it first").click()
    expect(page.locator("#trial .previewed")).to_have_text("It would have matched 1 item.")
    page.get_by_label("Read later").check()
    page.get_by_role("button", name="Save").click()
    page.goto("/filters")
    expect(page.locator(".grip").first).to_be_hidden()
    page.locator(".filter-card").last.locator("summary").click()
    page.locator(".filter-card").last.get_by_role("button", name="Move up").click()

    expect(page.locator(".filter-card .name").nth(-2)).to_have_text("in:title sluice")
    page.goto("/muted")
    page.get_by_role("button", name="Remove zeppelin").click()
    expect(page.get_by_text("Nothing is muted.")).to_be_visible()
    assert stored(site_server, FilterKind.MUTE) == []


def test_what_is_selected_in_an_article_is_muted_in_two_clicks(
    browser_user: BrowserUserMaker, site_server: SiteServer
) -> None:
    page = browser_user(at="/item/1", width=1440).page

    page.locator(".article .body em").dblclick()
    page.locator(".article-menu > summary").click()
    expect(page.locator(".part.mute input[name=text]")).to_have_value("larch")
    page.locator(".subjects .selected").click()

    expect(page.locator(".toast")).to_contain_text("“larch” is muted.")
    assert "larch" in [each.name for each in stored(site_server, FilterKind.MUTE)]
    # All articles have this word: without it, later tests have something to read.
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(".toast")).to_contain_text("It was deleted.")


def test_a_followed_word_is_raised_and_read_first(browser_user: BrowserUserMaker, site_server: SiteServer) -> None:
    page = browser_user(at="/all", width=1440).page
    page.get_by_role("link", name=FOLLOWED).click()
    page.locator(".article-menu > summary").click()
    page.get_by_text("Mute or follow").click()
    page.get_by_role("radio", name="Follow").check()
    page.locator(".subjects").get_by_role("button", name="migrations").click()
    expect(page.locator(".toast")).to_contain_text("You follow “migrations”.")
    page.locator(".article-menu > summary").click()
    with page.expect_response("**/marks"):
        page.locator(".article-menu .item.read").click()
    work_on_jobs(site_server)

    alice = browser_user(at="/unread", width=1440)
    page = alice.page
    expect(page.locator(".rows > li").first).to_have_text("Raised by filters")
    raised = page.locator(".row").first
    expect(raised).to_contain_text(FOLLOWED)
    expect(raised.locator(".by")).to_have_text("migrations")
    titles = alice.titles()
    assert titles.count(FOLLOWED) == 1
    assert serious(page) == []

    alice.press("j")
    alice.reads(titles[0])
    expect(page.locator(".effects")).to_contain_text("migrations")
    following = page.locator(".row .title").nth(1).get_attribute("href") or ""
    expect(page.locator(".article-bar a[rel=next]")).to_have_attribute("href", following)
    with page.expect_response("**/marks"):
        alice.press("j")
    alice.reads(titles[1])
    page.goto("/unread")
    assert titles[0] not in alice.titles()
    expect(page.locator(".rows > .day", has_text="Raised by filters")).to_have_count(0)
    page.goto("/muted")
    expect(page.get_by_role("row", name="migrations")).to_contain_text("Word or phrase")
