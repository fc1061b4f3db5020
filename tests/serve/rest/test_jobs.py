"""`/api/jobs`: list, details, cancel, event stream."""

from datetime import UTC, datetime

from feedmill.model.batch import JobOutcome
from feedmill.store.jobs.batches import start_batch, step_to_end_job
from tests.scripted_web import Answer
from tests.serve.rest.sample_feeds import subscribed
from tests.serve.rest.site import Person, Site


async def test_jobs_are_listed_page_by_page_the_newest_first(site: Site, alice: Person, bob: Person) -> None:
    started = [await _ended(site, alice) for _ in range(3)]
    await _ended(site, bob)

    first = (await alice.get("/jobs?limit=2")).json()
    second = (await alice.get(f"/jobs?limit=2&cursor={first['next']}")).json()

    assert [job["id"] for page in (first, second) for job in page["items"]] == started[::-1]
    assert second["next"] is None


async def test_a_job_names_the_feeds_that_failed(site: Site, alice: Person) -> None:
    good, bad = await subscribed(alice, site, "/good"), await subscribed(alice, site, "/bad")
    site.web.serve("/bad", Answer(status=404))

    job_id = (await alice.post("/feeds/refresh-all")).json()["job_id"]
    told = (await alice.get(f"/jobs/{job_id}/events")).text
    job = (await alice.get(f"/jobs/{job_id}")).json()

    assert (job["status"], job["total"], job["done"], job["failed"]) == ("done", 2, 2, 1)
    assert [(each["subscription_id"], each["message"]) for each in job["failures"]] == [(bad["id"], "HTTP 404")]
    assert f'"subscription_id":{good["id"]},"outcome":"unchanged"' in told
    assert told.count("event: feed") == 2
    assert told.count("event: done") == 1


async def test_a_client_that_has_seen_the_end_of_a_job_is_told_not_to_reconnect(site: Site, alice: Person) -> None:
    job_id = await _ended(site, alice)
    told = (await alice.get(f"/jobs/{job_id}/events")).text

    again = await alice.get(f"/jobs/{job_id}/events", headers={"Last-Event-ID": "1"})

    assert "id: 1\nevent: done" in told
    assert (again.status_code, again.content) == (204, b"")


async def test_a_job_is_cancelled_once(site: Site, alice: Person) -> None:
    now = datetime.now(UTC)
    job_id, _ = await start_batch(site.app.db, "refresh_all", [1, 2], now, alice.user.id)
    await site.app.db.batch([step_to_end_job(job_id, JobOutcome(1, "updated", 3), now)])

    cancelled = await alice.post(f"/jobs/{job_id}/cancel")
    again = await alice.post(f"/jobs/{job_id}/cancel")

    assert (cancelled.json()["status"], cancelled.json()["new"]) == ("cancelled", 3)
    assert (again.status_code, again.json()["code"]) == (409, "job_has_ended")


async def _ended(site: Site, person: Person) -> int:
    job_id, _ = await site.parts.batches.refresh("refresh_all", [], person.user.id)
    async for _ in site.parts.batches.watch(job_id):
        pass
    return job_id
