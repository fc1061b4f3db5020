"""`/api/feeds`: subscribing, the list, changes, and refreshes."""

import pytest

from feedmill.engine.jobs import Priority, RefreshFeed
from feedmill.store.feeds.claims import claim_feeds
from feedmill.store.jobs.batches import start_batch
from tests.scripted_web import Answer
from tests.serve.rest.sample_feeds import feed_of, folder_of, page_with, subscribed
from tests.serve.rest.site import Person, Site


async def test_a_new_feed_comes_with_its_entries(site: Site, alice: Person) -> None:
    url = site.web.serve("/feed", feed_of("a", "b", title="News"))

    added = await alice.post("/feeds", {"url": url, "folder": "Tech / Python", "interval_seconds": 3600})

    feed = added.json()["feed"]
    assert (added.status_code, added.json()["status"], added.json()["job_id"]) == (201, "ready", None)
    assert (feed["title"], feed["unread_count"], feed["interval_seconds"]) == ("News", 2, 3600)
    names = {folder["id"]: folder["name"] for folder in (await alice.get("/folders")).json()["items"]}
    assert [names[folder_id] for folder_id in feed["folder_ids"]] == ["Python"]
    assert len(site.web.requests) == 1


async def test_a_feed_that_is_down_is_added_anyway_and_its_job_can_be_watched(site: Site, alice: Person) -> None:
    url = site.web.serve("/feed", Answer(status=404))

    refused = await alice.post("/feeds", {"url": url})
    added = await alice.post("/feeds", {"url": url, "anyway": True})

    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["reason"]) == (422, "unreachable", "http")
    assert (problem["http_status"], problem["may_pass"]) == (404, True)
    assert problem["tried"] == [{"url": url, "answer": "HTTP 404"}]
    assert (added.status_code, added.json()["status"], added.json()["feed"]["state"]) == (202, "queued", "queued")
    events = (await alice.get(f"/jobs/{added.json()['job_id']}/events")).text
    assert '"message":"HTTP 404"' in events


async def test_errors_say_what_to_do_next(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)
    page = site.web.serve("/", page_with("/one", "/two"))

    again = await alice.post("/feeds", {"url": feed["url"]})
    several = await alice.post("/feeds", {"url": page})
    private = await alice.post("/feeds", {"url": "http://192.168.1.1/feed"})

    assert (again.status_code, again.json()["code"], again.json()["subscription_id"]) == (
        409,
        "already_subscribed",
        feed["id"],
    )
    assert (several.status_code, several.json()["code"]) == (409, "several_feeds")
    assert [each["url"].rpartition("/")[2] for each in several.json()["candidates"]] == ["one", "two"]
    assert (private.status_code, private.json()["code"]) == (422, "refused_address")
    assert "allow_private" in private.json()["detail"]


async def test_discovery_reports_every_url_that_it_tried(site: Site, alice: Person) -> None:
    nothing = site.web.serve("/", Answer(b"<html></html>", headers={"Content-Type": "text/html"}))
    feed = site.web.serve("/feed.xml", feed_of("a", title="News"))

    found = (await alice.post("/feeds/discover", {"url": nothing})).json()

    assert [(each["url"], each["title"], each["items"]) for each in found["candidates"]] == [(feed, "News", 1)]
    assert found["tried"][0] == {"url": nothing, "answer": "HTTP 200, text/html"}
    assert found["problem"] is None


async def test_discovery_explains_why_it_found_nothing(site: Site, alice: Person) -> None:
    url = site.web.serve("/feed", Answer(status=404))

    found = (await alice.post("/feeds/discover", {"url": url})).json()

    assert (found["candidates"], found["problem"]["code"]) == ([], "unreachable")


async def test_an_unchanged_list_is_not_sent_again(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)

    first = await alice.get("/feeds")
    again = await alice.get("/feeds", headers={"If-None-Match": first.headers["etag"]})
    await alice.patch(f"/feeds/{feed['id']}", {"title": "Other"})
    changed = await alice.get("/feeds", headers={"If-None-Match": first.headers["etag"]})

    assert [each["id"] for each in first.json()["items"]] == [feed["id"]]
    assert (again.status_code, again.content) == (304, b"")
    assert changed.json()["items"][0]["title"] == "Other"


async def test_omitted_fields_stay_and_null_resets_them(site: Site, alice: Person) -> None:
    folder = await folder_of(alice, "News")
    feed = await subscribed(alice, site, title="Mine", interval_seconds=3600, archive_policy="none")
    path = f"/feeds/{feed['id']}"

    filed = (await alice.patch(path, {"folder_ids": [folder]})).json()
    back = (await alice.patch(path, {"title": None, "interval_seconds": None, "folder_ids": []})).json()

    assert (filed["title"], filed["interval_seconds"], filed["archive_policy"]) == ("Mine", 3600, "none")
    assert (filed["folder_ids"], back["folder_ids"]) == ([folder], [])
    assert (back["title"], back["interval_seconds"], back["archive_policy"]) == ("News", None, "none")


@pytest.mark.parametrize(
    "changes",
    [
        {"interval_seconds": 59},
        {"interval_seconds": 604_801},
        {"archive_policy": "some"},
        {"folder_ids": [999]},
        {"title": ""},
        {"title": "a\x00b"},
        {"http_options": {"headers": {"X": "a\r\nb"}}},
        {"http_options": {"proxy": "socks5://127.0.0.1:1080"}},
        {"http_options": {"login": {"name": "a:b", "password": "c"}}},
    ],
)
async def test_an_invalid_change_is_refused(site: Site, alice: Person, changes: dict[str, object]) -> None:
    feed = await subscribed(alice, site)

    refused = await alice.patch(f"/feeds/{feed['id']}", changes)

    assert (refused.status_code, refused.json()["code"]) == (422, "bad_input")


async def test_a_feed_cannot_be_put_into_another_users_folder(site: Site, alice: Person, bob: Person) -> None:
    folder = await folder_of(alice, "Hers")
    his = await subscribed(bob, site)

    changed = await bob.patch(f"/feeds/{his['id']}", {"folder_ids": [folder]})
    added = await bob.post("/feeds", {"url": site.web.serve("/other", feed_of()), "folder_ids": [folder]})

    assert [changed.status_code, added.status_code] == [422, 422]


async def test_a_login_is_never_shown_or_shared(site: Site, alice: Person, bob: Person) -> None:
    login = {"login": {"name": "alice", "password": "secret"}, "cookie": "crumbs"}
    hers = await subscribed(alice, site, http_options=login)
    his = await subscribed(bob, site)

    shown = await alice.get(f"/feeds/{hers['id']}")

    assert shown.json()["http_options"] == {
        "name": "alice",
        "user_agent": None,
        "has_cookie": True,
        "has_proxy": False,
        "header_names": [],
        "verify_tls": True,
    }
    assert "secret" not in shown.text
    assert "crumbs" not in shown.text
    assert (hers["url"], hers["is_private"], his["is_private"]) == (his["url"], True, False)
    assert hers["feed_id"] != his["feed_id"]
    assert [seen.headers.get("cookie") for seen in site.web.requests] == ["crumbs", None]


async def test_unsubscribing_keeps_the_feed_for_other_subscribers(site: Site, alice: Person, bob: Person) -> None:
    hers, his = await subscribed(alice, site), await subscribed(bob, site)

    left = await alice.delete(f"/feeds/{hers['id']}")

    assert left.status_code == 204
    assert (await alice.get("/feeds")).json()["items"] == []
    assert [each["id"] for each in (await bob.get("/feeds")).json()["items"]] == [his["id"]]


# --- refreshing -------------------------------------------------------------------------------------------


async def test_a_refresh_reports_what_is_fetched_and_what_is_not(site: Site, alice: Person) -> None:
    due, paused, busy = [await subscribed(alice, site, f"/{name}") for name in ("due", "paused", "busy")]
    await alice.patch(f"/feeds/{paused['id']}", {"paused": True})
    await claim_feeds(site.app.db, [busy["feed_id"]], site.app.tools.clock())

    started = await alice.post("/feeds/refresh-all")

    told = started.json()
    assert (started.status_code, told["status"]) == (202, "queued")
    assert (told["queued"], told["already_running"]) == (1, 1)
    assert told["skipped"] == {"paused": 1, "too_soon": 0}
    job = (await alice.get(f"/jobs/{told['job_id']}")).json()
    assert (job["kind"], job["total"]) == ("refresh_all", 2)
    assert due["id"]


async def test_a_refresh_can_be_limited_to_a_folder(site: Site, alice: Person, bob: Person) -> None:
    outer = await folder_of(alice, "Outer")
    inner = await folder_of(alice, "Inner", outer)
    await subscribed(alice, site, "/in", folder_ids=[inner])
    await subscribed(alice, site, "/out")

    started = await alice.post("/feeds/refresh-all", {"folder_id": outer})

    assert started.json()["queued"] == 1
    assert (await bob.post("/feeds/refresh-all", {"folder_id": outer})).status_code == 404


async def test_a_subscription_is_refreshed_for_its_owner_alone(site: Site, alice: Person, charlie: Person) -> None:
    feed = await subscribed(alice, site)

    started = await alice.post(f"/feeds/{feed['id']}/refresh")
    await site.parts.engine.until_idle()

    told = started.json()
    assert (started.status_code, told["status"], told["queued"]) == (202, "queued", 1)
    assert (await alice.get(f"/jobs/{told['job_id']}")).json()["done"] == 1
    assert (await charlie.post(f"/feeds/{feed['id']}/refresh")).status_code == 404


async def test_a_second_request_joins_the_running_job(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)
    running, _ = await start_batch(
        site.app.db, "refresh", [feed["feed_id"]], site.app.tools.clock(), alice.user.id, f"feed-{feed['feed_id']}"
    )

    joined = (await alice.post(f"/feeds/{feed['id']}/refresh")).json()

    assert (joined["job_id"], joined["queued"], joined["already_running"]) == (running, 0, 1)
    assert joined["status"] == "already_running"


async def test_a_refresh_that_fetches_nothing_is_skipped(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)
    await alice.patch(f"/feeds/{feed['id']}", {"paused": True})

    told = (await alice.post(f"/feeds/{feed['id']}/refresh")).json()

    assert (told["status"], told["queued"], told["skipped"]["paused"]) == ("skipped", 0, 1)


async def test_the_fetch_log_of_a_feed_is_read_page_by_page(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)
    site.web.serve("/feed", Answer(status=404))
    await site.parts.engine.run(RefreshFeed(feed["feed_id"]), Priority.MANUAL)
    path = f"/feeds/{feed['id']}/fetches"

    first = (await alice.get(f"{path}?limit=1")).json()
    second = (await alice.get(f"{path}?limit=1&cursor={first['next']}")).json()

    [failed], [updated] = first["items"], second["items"]
    assert (failed["outcome"], failed["http_status"], failed["message"]) == ("http_4xx", 404, "HTTP 404")
    assert (updated["outcome"], updated["new_entries"], updated["message"]) == ("updated", 2, None)
    assert (updated["bytes"] > 0, second["next"]) == (True, None)
    assert (await alice.get(f"{path}?cursor=x")).status_code == 404


async def test_a_feed_is_queued_now_or_when_it_is_due(site: Site, alice: Person, charlie: Person) -> None:
    feed = await subscribed(alice, site)
    asked = {"feed_id": feed["feed_id"]}

    later = (await alice.post("/queue/schedule-feed", asked)).json()
    now = (await alice.post("/queue/schedule-feed", asked | {"force_immediate": True})).json()

    assert (later["task_id"], later["status"], later["delay_seconds"] > 600) == (None, "queued", True)
    assert (now["status"], now["delay_seconds"]) == ("queued", 0)
    assert (await alice.get(f"/jobs/{now['task_id']}")).json()["total"] == 1
    assert (await charlie.post("/queue/schedule-feed", asked)).status_code == 404


async def test_a_feed_that_is_being_fetched_is_not_queued_again(site: Site, alice: Person) -> None:
    feed = await subscribed(alice, site)
    await claim_feeds(site.app.db, [feed["feed_id"]], site.app.tools.clock())

    told = await alice.post("/queue/schedule-feed", {"feed_id": feed["feed_id"], "force_immediate": True})

    assert told.json() == {"task_id": None, "status": "already_running", "delay_seconds": 0}
