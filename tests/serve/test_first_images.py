"""The images of a new feed are archived at once, however it was added."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from feedmill.library.users.manage_users import make_user
from feedmill.model.user import Actor
from feedmill.store.schema import image_tasks
from tests.archive.images import sample_images
from tests.browser.sample_feeds import PASSWORD
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer
from tests.serve.app_client import app_user, sign_in
from tests.serve.rest.site import Site
from tests.serve.web.visitor import Visitor


async def by_api(site: Site, url: str) -> None:
    alice = await site.person("alice")
    assert (await alice.post("/feeds", {"url": url})).status_code == 201


async def by_page(site: Site, url: str) -> None:
    await make_user(site.app.db, "alice", PASSWORD, False, datetime.now(UTC), Actor())
    alice = await Visitor.signed_in(site, "alice")
    await alice.see("/subscribe", params={"url": url})
    assert (await alice.send("/subscribe/add", url=url, feed=url)).status_code == 303
    assert len(site.web.seen("/feed")) == 1


async def by_google_reader(site: Site, url: str) -> None:
    app = await sign_in(await app_user(site, "alice"))
    assert (await app.post("/subscription/quickadd", f"quickadd={url}")).json()["numResults"] == 1


async def by_miniflux(site: Site, url: str) -> None:
    alice = await app_user(site, "alice")
    sent = {"X-Auth-Token": alice.password}
    assert (await alice.client.post("/v1/feeds", json={"feed_url": url}, headers=sent)).status_code == 201


@pytest.mark.parametrize("add", [by_api, by_page, by_google_reader, by_miniflux])
async def test_the_images_of_a_new_feed_are_archived_without_a_scan(
    site: Site, add: Callable[[Site, str], Awaitable[None]]
) -> None:
    picture = site.web.serve("/a.png", Answer(sample_images.PNG))
    url = site.web.serve("/feed", answer(item("a", f'<img src="{picture}">')))

    await add(site, url)
    await site.parts.engine.until_idle()

    assert [row["status"] for row in await site.app.db.query(select(image_tasks.c.status))] == ["success"]
