"""Images of articles in apps: from the archive, without a session, and only while the app password is valid."""

from hashlib import sha256
from urllib.parse import urlsplit

from feedmill.archive.object_keys import image_key
from feedmill.library.users.app_passwords import revoke_app_password
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Caller
from feedmill.store.database import Step
from feedmill.store.dialect import insert
from feedmill.store.schema import image_tasks
from tests.archive.images import sample_images
from tests.library.small_library import NOW, SmallLibrary
from tests.serve.app_client import AppUser, GreaderApp
from tests.serve.rest.site import ORIGIN, Site

PICTURE = "https://mills.example.org/wheel.png"


async def test_archived_images_have_signed_addresses_that_end_with_the_password(
    site: Site, library: SmallLibrary, alice: AppUser, app: GreaderApp
) -> None:
    feed = await library.feed("mills")
    await library.subscribe(alice.user, feed)
    [entry] = await library.arrive(feed, "a", content_html=f'<img src="{PICTURE}"><img src="https://x.example/y.png">')
    await _archive(site, feed, entry)

    [item] = (await app.get("/stream/contents")).json()["items"]
    address = item["summary"]["content"].split('src="')[1].split('"')[0]
    path = urlsplit(address).path
    stranger = await site.browser()
    shown = await stranger.get(path)
    forged = [
        await stranger.get(path.replace("/app-images/1/", "/app-images/2/")),
        await stranger.get(path[:-5] + "1.png"),
        await stranger.get("/".join(["/app-images/1", "0" * 24, *path.split("/")[4:]])),
    ]
    await revoke_app_password(site.app.db, Caller(alice.user, alice.user.scopes), alice.app_password.id, NOW)

    assert address.startswith(f"{ORIGIN}/app-images/{alice.app_password.id}/")
    assert 'src="https://x.example/y.png"' in item["summary"]["content"]
    assert (shown.status_code, shown.content) == (200, sample_images.PNG)
    assert [answer.status_code for answer in forged] == [404, 404, 404]
    assert (await stranger.get(path)).status_code == 404


async def _archive(site: Site, feed_id: int, entry_id: int) -> None:
    body = sample_images.PNG
    key = image_key(feed_id, "a", 0, "png")
    await site.app.blobs.put(key, body, "image/png")
    row = {
        "feed_id": feed_id,
        "entry_id": entry_id,
        "position": 0,
        "original_url": PICTURE,
        "status": "success",
        "object_key": key,
        "size": len(body),
        "sha256": sha256(body).hexdigest(),
        "created_at": to_iso(NOW),
        "updated_at": to_iso(NOW),
    }
    await site.app.db.batch([Step(insert(image_tasks, *row), row)])
