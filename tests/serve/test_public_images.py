"""With `images_base_url` everything names archived images by their public address."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import select

from feedmill.store.schema import image_tasks
from tests.archive.images import sample_images
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer, Web
from tests.serve.app_client import app_user, sign_in
from tests.serve.rest.site import Person, Site, running_site

CDN = "https://images.example.org/mill"


@pytest.fixture
async def site(tmp_path: Path) -> AsyncIterator[Site]:
    async with Web() as web, running_site(tmp_path, web, images_base_url=CDN) as site:
        yield site


async def add_feed_with_image(site: Site, person: Person) -> tuple[int, str]:
    """An entry whose only image is archived; the public address that it should have."""
    picture = site.web.serve("/a.png", Answer(sample_images.PNG))
    url = site.web.serve("/feed", answer(item("a", f'<img src="{picture}">')))
    assert (await person.post("/feeds", {"url": url})).status_code == 201
    await site.parts.engine.until_idle()
    [row] = await site.app.db.query(select(image_tasks.c.entry_id, image_tasks.c.object_key))
    return row["entry_id"], f'src="{CDN}/{row["object_key"]}"'


async def test_the_api_names_archived_images_by_their_public_address(site: Site) -> None:
    alice = await site.person("alice")
    entry, expected = await add_feed_with_image(site, alice)

    article = (await alice.get(f"/entries/{entry}")).json()
    [text] = (await alice.get(f"/entries/texts?ids={entry}")).json()["items"]

    assert expected in article["html"]
    assert expected in text["html"]


async def test_reader_apps_get_the_public_address(site: Site) -> None:
    user = await app_user(site, "alice")
    app = await sign_in(user)
    picture = site.web.serve("/a.png", Answer(sample_images.PNG))
    url = site.web.serve("/feed", answer(item("a", f'<img src="{picture}">')))
    await app.post("/subscription/quickadd", f"quickadd={url}")
    await site.parts.engine.until_idle()

    [shown] = (await app.get("/stream/contents")).json()["items"]

    assert f'src="{CDN}/images/' in shown["summary"]["content"]
