"""Fetching icons of feeds, from a web that cannot be trusted."""

from base64 import b64decode
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest

from feedmill.library.feeds.fetch_icons import (
    ENROL_EVERY,
    FRESH,
    LARGEST,
    PAUSES,
    IconFetcher,
    icon_url_of,
    missing_icon,
)
from feedmill.model.fetch_outcome import Deferred, FetchOutcome, HttpError, Throttled
from feedmill.model.timestamps import to_iso
from feedmill.model.user import User
from feedmill.outbound.address_policy import AddressPolicy
from feedmill.outbound.client import Client
from feedmill.store.database import Database, Row, Step
from feedmill.store.feeds.add_feeds import add_feed
from feedmill.store.feeds.icons import IconFailure, IconTask
from feedmill.store.schema import feeds, icons
from tests.archive.images import sample_images
from tests.library.small_library import NOW, SmallLibrary
from tests.library.webhooks.webhook_setup import open_client
from tests.scripted_web import Answer, Web

FAVICON = "/favicon.ico"
MINUTE = timedelta(minutes=1)
SECRETS = '{"basic_auth": ["alice", "secret"], "cookie": "sid=secret", "headers": {"X-Key": "secret"}}'


@dataclass
class IconSetup:
    """Feeds that Alice subscribes to, and the web that has their icons."""

    db: Database
    web: Web
    client: Client
    work: IconFetcher = field(init=False)
    alice: User = field(init=False)

    def __post_init__(self) -> None:
        self.library, self.now = SmallLibrary(self.db), NOW
        self.work = IconFetcher(self.db, self.client, lambda: self.now)

    async def feed(self, path: str = "/feed", **facts: Any) -> int:
        """A feed of the web with these fields."""
        feed = (await add_feed(self.db, self.web.url(path), self.now)).id
        await self.library.subscribe(self.alice, feed)
        said = {"last_success_at": to_iso(self.now), "site_url": self.web.url("/about/")} | facts
        await self.db.batch([Step(feeds.update().where(feeds.c.id == feed).values(said))])
        return feed

    async def rows(self) -> list[Row]:
        return await self.db.query(icons.select().order_by(icons.c.feed_id))

    async def kept(self) -> list[bytes | None]:
        return [row["data"] and b64decode(row["data"]) for row in await self.rows()]

    def asked(self) -> list[str]:
        return [seen.path for seen in self.web.requests]


@pytest.fixture
async def icon_setup(db: Database) -> AsyncIterator[IconSetup]:
    async with Web() as web, open_client() as client:
        icon_setup = IconSetup(db, web, client)
        icon_setup.alice = await icon_setup.library.person()
        yield icon_setup


async def test_an_icon_is_fetched_stored_and_not_requested_for_a_month(icon_setup: IconSetup) -> None:
    await icon_setup.feed()
    icon_setup.web.serve(FAVICON, Answer(sample_images.ICO, headers={"Content-Type": "text/html"}))

    chunks = [await icon_setup.work.fetch(), await icon_setup.work.fetch()]
    icon_setup.now += FRESH
    chunks.append(await icon_setup.work.fetch())

    [row] = await icon_setup.rows()
    assert chunks == [1, 0, 1]
    assert (row["url"], row["media_type"]) == (icon_setup.web.url(FAVICON), "image/x-icon")
    assert await icon_setup.kept() == [sample_images.ICO]
    assert icon_setup.asked() == [FAVICON, FAVICON]


async def test_the_icon_that_a_feed_names_comes_first_and_the_sites_icon_is_the_fallback(icon_setup: IconSetup) -> None:
    await icon_setup.feed(icon_url=icon_setup.web.url("/logo.png"))
    icon_setup.web.serve(FAVICON, Answer(sample_images.ICO))

    await icon_setup.work.fetch()
    icon_setup.now += PAUSES[0]
    await icon_setup.work.fetch()

    assert icon_setup.asked() == ["/logo.png", FAVICON]
    assert await icon_setup.kept() == [sample_images.ICO]
    assert [row["attempts"] for row in await icon_setup.rows()] == [0]


async def test_a_site_without_an_icon_is_requested_ever_more_rarely(icon_setup: IconSetup) -> None:
    await icon_setup.feed()

    waits = []
    for _ in range(4):
        await icon_setup.work.fetch()
        [row] = await icon_setup.rows()
        waits.append(next(pause for pause in PAUSES if to_iso(icon_setup.now + pause) == row["next_attempt_at"]).days)
        icon_setup.now += timedelta(days=waits[-1])

    assert waits == [1, 7, 30, 30]


@pytest.mark.parametrize(
    "served",
    [
        Answer(sample_images.PAGE, headers={"Content-Type": "image/x-icon"}),
        Answer(sample_images.SVG, headers={"Content-Type": "image/svg+xml"}),
        Answer(sample_images.HEIC),
        Answer(sample_images.PNG + bytes(LARGEST)),
        Answer(),
        Answer(sample_images.ICO, status=404),
    ],
    ids=["a page", "SVG", "what browsers can't show", "too large", "nothing", "a page of errors"],
)
async def test_anything_but_a_small_image_is_not_stored(icon_setup: IconSetup, served: Answer) -> None:
    await icon_setup.feed()
    icon_setup.web.serve(FAVICON, served)

    await icon_setup.work.fetch()

    assert icon_setup.asked() == [FAVICON]
    assert await icon_setup.kept() == [None]


async def test_a_redirect_to_a_private_address_is_refused(db: Database) -> None:
    async with Web() as web, open_client(AddressPolicy(["127.0.0.1/32"])) as client:
        icon_setup = IconSetup(db, web, client)
        icon_setup.alice = await icon_setup.library.person()
        await icon_setup.feed()
        web.serve(FAVICON, Answer(status=302, headers={"Location": web.url("/secret.png", host="127.0.0.2")}))
        web.serve("/secret.png", Answer(sample_images.PNG))

        await icon_setup.work.fetch()

        assert (icon_setup.asked(), await icon_setup.kept()) == ([FAVICON], [None])


async def test_a_login_is_sent_for_its_own_feed_only(icon_setup: IconSetup) -> None:
    place = icon_setup.web.url("").removeprefix("http://")
    await icon_setup.feed("/feed#user=1", http_options=SECRETS, site_url=f"http://alice:secret@{place}/")
    await icon_setup.feed("/other", http_options=SECRETS, icon_url=f"http://alice:secret@{place}/logo.png")
    icon_setup.web.serve(FAVICON, Answer(sample_images.ICO))
    icon_setup.web.serve("/logo.png", Answer(sample_images.PNG))

    await icon_setup.work.fetch()

    assert sorted(icon_setup.asked()) == [FAVICON, "/logo.png"]
    assert "secret" not in str([seen.headers for seen in icon_setup.web.requests])
    assert "secret" not in str([row["url"] for row in await icon_setup.rows()])


async def test_a_site_with_many_feeds_is_requested_once(icon_setup: IconSetup) -> None:
    for number in range(3):
        await icon_setup.feed(f"/feed/{number}")
    icon_setup.web.serve(FAVICON, Answer(sample_images.GIF))

    await icon_setup.work.fetch()

    assert icon_setup.asked() == [FAVICON]
    assert await icon_setup.kept() == [sample_images.GIF] * 3


async def test_a_new_feed_is_noticed_at_the_next_search_for_new_feeds(icon_setup: IconSetup) -> None:
    await icon_setup.work.fetch()
    await icon_setup.feed()

    chunks = [await icon_setup.work.fetch()]
    icon_setup.now += ENROL_EVERY
    chunks.append(await icon_setup.work.fetch())

    assert chunks == [0, 1]


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Deferred("u", "u", NOW + MINUTE), IconFailure(7, NOW + MINUTE, counted=False)),
        (Throttled("u", "u", 429, "url", None, NOW + 2 * PAUSES[0]), IconFailure(7, NOW + 2 * PAUSES[0])),
        (Throttled("u", "u", 429, "url", None, NOW + MINUTE), IconFailure(7, NOW + PAUSES[0])),
        (HttpError("u", "u", 403), IconFailure(7, NOW + PAUSES[0])),
    ],
)
def test_a_host_that_asked_us_to_wait_is_left_alone(outcome: FetchOutcome, expected: IconFailure) -> None:
    assert missing_icon(outcome, IconTask(7, 0, None, None, "u"), NOW) == expected


@pytest.mark.parametrize(
    ("icon_url", "site_url", "url", "address"),
    [
        ("https://cdn.org/i.png", "https://a.org/blog/", "https://f.org/rss", "https://cdn.org/i.png"),
        ("data:image/png;base64,AAAA", "https://a.org/blog/?x=1", "https://f.org/rss", "https://a.org/favicon.ico"),
        ("javascript:alert(1)", None, "https://f.org:8443/rss", "https://f.org:8443/favicon.ico"),
        (None, "/relative", "http://u:p@f.org/rss#user=7", "http://f.org/favicon.ico"),
    ],
)
def test_the_icon_url_is_a_web_address_without_a_login(
    icon_url: str | None, site_url: str | None, url: str, address: str
) -> None:
    assert icon_url_of(IconTask(7, 0, icon_url, site_url, url)) == address
