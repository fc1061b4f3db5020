"""The pool pages without scripts: how full, how fast, and what a program would get."""

import asyncio
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from feedmill.coordination.redis_client import connect
from feedmill.library.users.manage_users import create_first_admin, find_user, remove_user
from feedmill.model.pool import (
    Guarantee,
    LossPolicy,
    OnLoss,
    PoolAccess,
    PoolCounts,
    PoolKind,
    PoolOptions,
    PoolRight,
    PoolRule,
    PoolStatus,
    PoolText,
)
from feedmill.model.user import Actor, Caller
from feedmill.pools.service import PoolService
from feedmill.serve.web.pools import dashboard as page_of_pools
from feedmill.serve.web.pools.dashboard_figures import PoolFigures, by_hour, fill_gauge
from feedmill.serve.web.pools.group_form import EMPTY_VALUES
from feedmill.store.pools.grants import grant_access
from tests.browser.sample_feeds import PASSWORD, sample_feeds, subscribe_to
from tests.scripted_web import Web
from tests.serve.rest.site import Site, running_site
from tests.serve.web.valid_forms import GROUP
from tests.serve.web.visitor import Visitor, text_of
from tests.services.server import Service
from tests.waiting import LONGEST_WAIT

TITLE = re.compile(r"&#34;text&#34;: &#34;(.+?)&#34;")
OPTIONS = {f"{kind}_{name}": value for kind in PoolKind for name, value in (("size", "50"), ("refill_below", "10"))}


async def flush_redis(url: str) -> None:
    client = connect(url)
    await client.flushdb()
    await client.aclose()


@pytest.fixture
async def news(site: Site, alice: Visitor) -> str:
    """A group with both pools and every entry; the path of its page."""
    group = await site.app.pools.create("新闻", PoolRule())
    await site.app.pools.fill(group.id)
    return f"/pools/{group.id}"


async def test_without_a_group_the_page_explains_how_to_create_one(alice: Visitor, charlie: Visitor) -> None:
    page = await alice.see("/pools")

    assert "No group yet" in text_of(page)
    assert page.xpath("//main//a/@href") == ["/pools/new"]
    assert "Ask an admin" in text_of(await charlie.see("/pools"))


async def test_a_group_shows_how_full_its_pools_are(alice: Visitor, news: str) -> None:
    page = await alice.see("/pools")

    titles, contents = page.xpath("//article[contains(@class, 'pool')]")
    assert "8 items available" in text_of(titles)
    assert "From the database" in text_of(titles)
    # Without a list there is no size that a gauge could show.
    assert "5,000" not in text_of(titles)
    assert titles.xpath(".//*[contains(@class, 'gauge')]") == []
    assert "Contents" in text_of(contents)
    assert page.xpath("//h1/text()") == ["Pools"]


async def test_taken_items_are_shown_counted_and_can_be_requeued(alice: Visitor, news: str) -> None:
    taken = await alice.send(f"{news}/titles/take")
    assert TITLE.findall(taken.text)
    assert "POST /api/pools/1/titles/pop" in taken.text
    assert "&#34;ref&#34;" not in taken.text
    [id] = re.findall(r'name="id" value="(\d+)"', taken.text)
    after = text_of(await alice.see("/pools"))
    assert "Taken in the last hour1" in after
    assert "7 items available" in after

    await alice.send(f"{news}/titles/put-back", id=id, token="")

    assert "7 items available" not in text_of(await alice.see("/pools"))


async def test_a_pool_with_leases_shows_the_deadline_and_takes_items_back(
    site: Site, alice: Visitor, news: str
) -> None:
    await site.app.pools.change("新闻", titles=PoolOptions(guarantee=Guarantee.LEASE))
    lent = await alice.send(f"{news}/titles/take")
    assert "becomes available again after 60 seconds" in lent.text
    [token] = re.findall(r'name="token" value="([^"]+)"', lent.text)
    [id] = re.findall(r'name="id" value="(\d+)"', lent.text)
    assert "Leased1" in text_of(await alice.see("/pools"))

    await alice.send(f"{news}/titles/put-back", id=id, token=token)

    assert "Leased0" in text_of(await alice.see("/pools"))


async def test_an_empty_or_paused_pool_hands_out_nothing_and_explains_why(
    site: Site, alice: Visitor, news: str
) -> None:
    await alice.send(f"{news}/pause")
    await alice.send(f"{news}/titles/take")
    assert "is paused." in text_of(await alice.see("/pools"))

    await alice.send(f"{news}/resume")
    await site.app.pools.pop("新闻", PoolKind.TITLES, 8)
    await alice.send(f"{news}/titles/take")

    assert "is empty." in text_of(await alice.see("/pools"))


async def test_a_group_is_created_changed_and_deleted(site: Site, alice: Visitor) -> None:
    url = site.web.url("/zh.xml")
    sent = {"name": "Mills", "words": "mill\n磨坊", "feeds": url, "since": "2026-01-02", "language": "zh", **OPTIONS}
    made = await alice.send("/pools/new", **sent, titles_guarantee="lease", contents_form="text")
    assert made.headers["location"] == "/pools"
    group = await site.app.pools.group("Mills")
    assert (group.rule.words, len(group.rule.feeds)) == (("mill", "磨坊"), 1)
    assert group.rule.since == datetime(2026, 1, 2, tzinfo=UTC)
    assert (group.titles.guarantee, group.contents.form, group.titles.size) == ("lease", "text", 50)

    page = await alice.see(f"/pools/{group.id}")
    assert page.xpath("//textarea[@name='feeds']/text()") == [url]
    assert page.xpath("//input[@name='since']/@value") == ["2026-01-02"]
    await alice.send(
        f"/pools/{group.id}", **GROUP | sent | {"name": "Wheels", "words": "", "feeds": "", "titles_guarantee": ""}
    )
    changed = await site.app.pools.group("Wheels")
    assert (changed.rule.words, changed.rule.feeds, changed.titles.guarantee) == ((), (), "lease")
    await alice.send(f"/pools/{group.id}/delete")
    assert "No group yet" in text_of(await alice.see("/pools"))


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("name", " ", "1 to 190 characters"),
        ("name", "新闻", "Another group has this name"),
        ("feeds", "https://nobody.example/feed", "not a feed here"),
        ("feeds", "not an address", "not a feed here"),
        ("language", "two words", "looks like en or zh-CN"),
        ("since", "yesterday", "not a date"),
        ("min_length", "many", "not valid here"),
        ("titles_size", "0", "not valid here"),
        ("words", "x" * 191, "at most 190"),
    ],
)
async def test_an_invalid_group_is_reported_next_to_its_field(
    alice: Visitor, news: str, field: str, value: str, said: str
) -> None:
    answer = await alice.send("/pools/new", **{"name": "Other", field: value})

    assert answer.status_code == 422
    assert re.search(rf'id="f-{field}"[^>]* aria-invalid="true"', answer.text)
    assert said in answer.text
    assert "Nothing was saved." in answer.text


async def test_only_admins_change_groups(site: Site, alice: Visitor, charlie: Visitor, news: str) -> None:
    await alice.send(f"{news}/grants", taker="charlie", right="take")
    page = await charlie.see("/pools")
    assert {form.get("action").rpartition("/")[2] for form in page.xpath("//main//form")} == {"take"}

    for path in (news, f"{news}/titles/lost", "/pools/new"):
        assert (await charlie.client.get(path)).status_code == 403, path
    for path in (news, "/pools/new", f"{news}/pause", f"{news}/delete", f"{news}/fill", f"{news}/titles/drain"):
        assert (await charlie.send(path, name="x")).status_code == 403, path
    for path in (f"{news}/grants", f"{news}/grants/1/take/revoke"):
        assert (await charlie.send(path, taker="charlie", right="take")).status_code == 403, path
    taken = await charlie.send(f"{news}/titles/take")
    assert taken.status_code == 200
    assert "Put back" not in taken.text
    [id] = re.findall(r'name="id" value="(\d+)"', taken.text)
    assert (await charlie.send(f"{news}/titles/put-back", id=id, token="")).status_code == 403


async def test_a_user_without_a_grant_sees_and_takes_nothing(site: Site, charlie: Visitor, news: str) -> None:
    page = await charlie.see("/pools")
    assert "新闻" not in text_of(page)
    assert "Ask an admin to create one, or to give you access to one." in text_of(page)

    assert (await charlie.send(f"{news}/titles/take")).status_code == 404
    assert (await charlie.send(f"{news}/titles/put-back", id="1", token="x")).status_code == 404

    assert (await site.app.pools.status("新闻", PoolKind.TITLES)).counts.available == 8


async def test_an_admin_sees_who_may_take_and_changes_it(alice: Visitor, charlie: Visitor, news: str) -> None:
    assert "Only admins." in text_of(await alice.see(news))
    await alice.send(f"{news}/grants", taker=" Charlie ", right="take")
    page = await alice.see(news)
    assert "“charlie” may take from this group." in text_of(page)
    [action] = page.xpath("//section[@aria-labelledby='takers']//tbody//form/@action")
    assert "新闻" in text_of(await charlie.see("/pools"))

    await alice.send(action)

    assert "Only admins." in text_of(await alice.see(news))
    assert "新闻" not in text_of(await charlie.see("/pools"))
    assert (await alice.send(action)).status_code == 404


@pytest.mark.parametrize("name", ["nobody", "two words", "", "a" * 300])
async def test_a_missing_account_cannot_get_a_grant(alice: Visitor, news: str, name: str) -> None:
    answer = await alice.send(f"{news}/grants", taker=name, right="take")

    assert answer.status_code == 422
    assert "There is no account with this name." in answer.text
    assert "Nothing was saved." not in answer.text


async def test_the_account_whose_labels_count_is_shown_and_saved(site: Site, alice: Visitor, charlie: Visitor) -> None:
    page = await alice.see("/pools/new")
    assert page.xpath("//input[@name='labels_of']/@value") == ["alice"]

    await alice.send("/pools/new", name="Best", labels="best", labels_of="Charlie", **OPTIONS)
    group = await site.app.pools.group("Best")
    assert (group.rule.labels, group.rule.labels_of) == (("best",), "charlie")
    assert (await alice.see(f"/pools/{group.id}")).xpath("//input[@name='labels_of']/@value") == ["charlie"]

    await remove_user(site.app.db, await charlie.user(site), Actor(), datetime.now(UTC))
    assert "was deleted, so no more articles join" in text_of(await alice.see(f"/pools/{group.id}"))
    fields = {**EMPTY_VALUES, "name": "Best", "labels": "best", "labels_of": ""}
    refused = await alice.send(f"/pools/{group.id}", **fields)
    assert "There is no account with this name." in refused.text


async def test_a_live_view_hides_a_group_once_the_grant_is_revoked(
    site: Site, alice: Visitor, charlie: Visitor, news: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    group, user = await site.app.pools.group("新闻"), await charlie.user(site)
    await grant_access(site.app.db, group, user, Actor(), datetime.now(UTC))
    monkeypatch.setattr(page_of_pools, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(page_of_pools, "MAX_UPDATES", 2)
    shown, access_of = [], PoolService.access_of

    async def taken_away_after_the_first(pools: PoolService, who: Caller) -> PoolAccess:
        found = await access_of(pools, who)
        await pools.revoke(group, user.id)
        shown.append(found.allows(group.id))
        return found

    monkeypatch.setattr(PoolService, "access_of", taken_away_after_the_first)
    answer = await charlie.client.get("/pools/events")

    first, second = answer.text.strip().split("\n\n")
    assert shown == [True, False]
    assert ("新闻" in first, "新闻" in second) == (True, False)


async def test_a_missing_group_is_not_found(alice: Visitor, news: str) -> None:
    for path in ("/pools/99", "/pools/99/titles/lost", f"{news}/pictures/lost", "/pools/9007199254740993"):
        assert (await alice.client.get(path)).status_code == 404, path
    for path in (f"{news}/explode", f"{news}/titles/explode", f"{news}/pictures/take", "/pools/99/titles/take"):
        assert (await alice.send(path)).status_code == 404, path
    assert (await alice.send(f"{news}/titles/put-back", id="x", token="")).status_code == 422


async def test_without_redis_there_is_no_list_to_drain(alice: Visitor, news: str) -> None:
    await alice.send(f"{news}/titles/drain")

    assert "no lists without Redis" in text_of(await alice.see("/pools"))


async def test_a_live_view_is_updated_repeatedly(
    site: Site, alice: Visitor, news: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_of_pools, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(page_of_pools, "MAX_UPDATES", 2)

    async with asyncio.timeout(LONGEST_WAIT):
        answer = await alice.client.get("/pools/events")

    assert answer.headers["content-type"].startswith("text/event-stream")
    assert "content-encoding" not in answer.headers
    parts = answer.text.strip().split("\n\n")
    assert len(parts) == 2
    assert all(line.startswith("data: ") for part in parts for line in part.splitlines())
    assert "新闻" in parts[0]
    assert 'class="stale" id="stale-' in parts[0]
    nobody = await site.browser()
    assert (await nobody.get("/pools/events")).status_code == 303


async def test_with_redis_lists_are_filled_drained_and_accounted_for(tmp_path: Path, redis_service: Service) -> None:
    async with Web() as web, running_site(tmp_path, web, redis=redis_service.url) as site:
        user = await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))
        await subscribe_to(site, user, sample_feeds(web.url(""))[1])
        alice = await Visitor.signed_in(site, "alice")
        group = await site.app.pools.create("news", PoolRule(), PoolOptions(size=4, refill_below=2))
        path = f"/pools/{group.id}"

        await alice.send(f"{path}/fill")
        [titles, _] = (await alice.see("/pools")).xpath("//article[contains(@class, 'pool')]")
        assert ("4 of 4" in text_of(titles), "Left in the database1" in text_of(titles)) == (True, True)
        await alice.send(f"{path}/titles/drain")
        assert "4 items were returned to the database." in text_of(await alice.see("/pools"))
        await alice.send(f"{path}/titles/take")
        [titles, _] = (await alice.see("/pools")).xpath("//article[contains(@class, 'pool')]")
        assert ("0 of 4" in text_of(titles), "Served from the database1" in text_of(titles)) == (True, True)
        assert "No items held back" in text_of(await alice.see(f"{path}/titles/lost"))
        await alice.send(f"{path}/delete")


@pytest.mark.parametrize(
    ("loss", "told"),
    [
        (
            LossPolicy(),
            "A crash left 5 items in doubt: programs may have used some of them. They wait for your decision.",
        ),
        (LossPolicy(OnLoss.RELEASE, 3600), "They become available 1 hr after they were held back."),
    ],
    ids=["hold", "release"],
)
async def test_items_held_back_are_told_with_what_becomes_of_them(
    tmp_path: Path, redis_service: Service, loss: LossPolicy, told: str
) -> None:
    async with Web() as web, running_site(tmp_path, web, redis=redis_service.url) as site:
        user = await create_first_admin(site.app.db, "alice", PASSWORD, datetime.now(UTC))
        await subscribe_to(site, user, sample_feeds(web.url(""))[1])
        alice, pools = await Visitor.signed_in(site, "alice"), site.app.pools
        group = await pools.create("news", PoolRule(), loss=replace(loss, others_rpop=True))
        await pools.fill(group.id)
        await flush_redis(redis_service.url)
        lost = text_of(await alice.see("/pools"))
        await pools.maintainer.run_once()

        page = await alice.see("/pools")
        items = await alice.see(f"/pools/{group.id}/titles/lost")
        await alice.send(f"/pools/{group.id}/titles/release")

        assert "List lost: being recovered" in lost
        [titles, _] = page.xpath("//article[contains(@class, 'pool')]")
        assert ("Held back5" in text_of(titles), told in text_of(titles)) == (True, True)
        assert "5 items are in doubt" in text_of(items)
        assert (await pools.status(group.id, PoolKind.TITLES)).counts == PoolCounts(available=5)


async def test_a_group_says_what_becomes_of_items_in_doubt(site: Site, alice: Visitor, news: str) -> None:
    group = await site.app.pools.change("新闻", loss=LossPolicy(others_rpop=True))
    sent = GROUP | {"name": "新闻", "on_loss": "release", "release_after_seconds": "90"}

    await alice.send(news, **sent)
    refused = await alice.send(news, **sent | {"release_after_seconds": "0"})

    changed = await site.app.pools.group(group.id)
    # What the form does not have is kept.
    assert changed.loss == LossPolicy(OnLoss.RELEASE, 90, others_rpop=True)
    assert refused.status_code == 422


async def test_an_admin_says_who_may_put_texts_into_a_group(
    site: Site, alice: Visitor, charlie: Visitor, news: str
) -> None:
    await alice.send(f"{news}/grants", taker="charlie", right="fill")
    page = await alice.see(news)
    user = Caller(await find_user(site.app.db, "charlie"), frozenset())  # type: ignore[arg-type]
    may = [(await site.app.pools.access_of(user, right)).group_ids for right in PoolRight]
    [form] = page.xpath("//form[contains(@action, '/fill/revoke')]")
    await alice.send(form.get("action"))

    assert "may put texts into this group" in text_of(page)
    assert "charliePut texts in" in text_of(page)
    assert may == [frozenset(), frozenset({int(news.rpartition("/")[2])})]
    assert (await site.app.pools.access_of(user, PoolRight.FILL)).group_ids == frozenset()
    assert (await alice.send(f"{news}/grants/1/paint/revoke")).status_code == 404


async def test_the_page_says_where_texts_come_from(site: Site, alice: Visitor, news: str) -> None:
    assert "Articles by rule, and texts of programs" in text_of(await alice.see("/pools"))

    await alice.send(news, **GROUP | {"name": "新闻", "origin": "programs"})
    before = text_of(await alice.see("/pools"))
    await site.app.pools.add_texts("新闻", PoolKind.TITLES, [PoolText("1", "a text", 1)], "writer")
    titles, contents = (await alice.see("/pools")).xpath("//article[contains(@class, 'pool')]")

    assert (await site.app.pools.group("新闻")).rule.no_entries
    assert ("Only texts of programs" in before, "Last text of a programnone yet" in before) == (True, True)
    assert "Last text of a programwriter" in text_of(titles)
    assert "none yet" in text_of(contents)


# --- figures ----------------------------------------------------------------------------------------------

FIGURES = PoolFigures(
    kind=PoolKind.TITLES,
    options=PoolOptions(),
    status=PoolStatus(PoolCounts(available=300, queued=960), 950, "filler here:1/abc"),
    used=(0,) * 23 + (120,),
    used_in_hour=120,
    fallbacks=0,
    duplicates=0,
    last_failure=None,
    has_lists=True,
)


def test_the_figures_of_a_pool_with_a_list() -> None:
    assert (FIGURES.level, FIGURES.left, FIGURES.used_in_day) == (950, 300, 120)
    assert (FIGURES.filler, FIGURES.is_down) == ("filler here:1", False)
    assert FIGURES.empty_in == timedelta(hours=10.5)
    assert 'class="low" width="190"' in fill_gauge(FIGURES, "")


def test_without_redis_the_figures_of_the_database_remain() -> None:
    down = replace(FIGURES, status=PoolStatus(PoolCounts(available=300, queued=960), None, None), used_in_hour=0)

    assert (down.is_down, down.level, down.empty_in, down.filler) == (True, 300, None, None)


def test_uses_are_grouped_into_the_hours_of_the_last_day() -> None:
    now = datetime(2026, 2, 18, 8, 30, tzinfo=UTC)
    minutes = {now - timedelta(minutes=5): 2, now - timedelta(minutes=90): 3, now - timedelta(hours=24): 4}

    assert by_hour(minutes, now) == (4, *[0] * 21, 3, 2)
