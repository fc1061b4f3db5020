"""An image that is not archived is fetched when somebody looks at it: once, carefully, and then archived."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import pytest

from feedmill.archive.images import file_types
from feedmill.archive.images.download import ImageTools
from feedmill.errors import NotFound
from feedmill.i18n.messages import Message
from feedmill.library.archive import view_images
from feedmill.library.archive.view_images import ImageViewer, StoredKey, ViewedImage
from feedmill.model.feed import ArchivePolicy
from feedmill.model.image import DownloadedImage, ImageDownloadFailed, ImageTask
from feedmill.model.user import User
from feedmill.store.archive.entry_images import FIRST_EXTRA_POSITION
from feedmill.store.archive.image_tasks import take_image_tasks
from feedmill.store.database import Database, Step
from feedmill.store.entries.visible_entries import visible_entries
from feedmill.store.schema import entries, feeds, image_tasks
from tests.archive.images import sample_images
from tests.flows.archived_images import image_tools, stored, tasks
from tests.flows.refresh_environment import MINUTE, RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer, ClientConnection, ReceivedRequest
from tests.waiting import LONGEST_WAIT, until

PATIENT = timedelta(seconds=LONGEST_WAIT)
PNG = Answer(sample_images.PNG)
PNG_IMAGE = DownloadedImage(file_types.PNG, sample_images.PNG)


class Viewing:
    """Alice subscribes to a feed whose only entry shows `/a.png`."""

    def __init__(self, subscribers: Subscribers, alice: User, viewer: ImageViewer, entry_id: int) -> None:
        self.env, self.alice, self.viewer, self.entry_id = subscribers.env, alice, viewer, entry_id

    async def view(self, path: str, wait: timedelta = PATIENT, viewer: User | None = None) -> ViewedImage | None:
        return await self.viewer.view((viewer or self.alice).id, self.entry_id, self.env.web.url(path), wait)

    async def change(self, **values: object) -> None:
        await self.env.db.batch([Step(image_tasks.update().values(**values))])

    async def policy(self, policy: str) -> None:
        await self.env.db.batch([Step(feeds.update().values(archive_policy=policy)), Step(image_tasks.delete())])


async def viewing_with(subscribers: Subscribers, alice: User, tools: ImageTools) -> Viewing:
    source = subscribers.env.web.url("/a.png")
    url = subscribers.env.web.serve("/feed", answer(item("a", f'<img src="{source}">')))
    await subscribers.subscribe(alice, url)
    [entry] = await subscribers.env.rows(entries)
    return Viewing(subscribers, alice, ImageViewer(tools), entry["id"])


@pytest.fixture
async def viewing(subscribers: Subscribers, alice: User) -> AsyncIterator[Viewing]:
    viewing = await viewing_with(subscribers, alice, image_tools(subscribers.env))
    async with aclosing(viewing.viewer):
        yield viewing


async def test_a_viewed_image_is_shown_and_archived(any_env: RefreshEnvironment) -> None:
    subscribers = Subscribers(any_env)
    viewing = await viewing_with(subscribers, await subscribers.person("alice"), image_tools(any_env))
    any_env.web.serve("/a.png", PNG)
    any_env.web.serve("/full.png", PNG)

    shown = [await viewing.view(path) for path in ("/a.png", "/full.png", "/a.png")]

    first, extra = await tasks(any_env)
    assert shown == [PNG_IMAGE, PNG_IMAGE, StoredKey(first["object_key"])]
    assert [first["status"], extra["status"]] == ["success", "success"]
    assert (first["position"], extra["position"]) == (0, FIRST_EXTRA_POSITION)
    assert len(await stored(any_env)) == 2
    assert len(any_env.web.seen("/a.png")) == 1


async def test_concurrent_viewers_share_one_fetch(viewing: Viewing, monkeypatch: pytest.MonkeyPatch) -> None:
    may_answer = asyncio.Event()
    waiting = list[int]()

    async def visible_then_waiting(db: Database, user_id: int, entry_ids: list[int]) -> dict[int, ArchivePolicy]:
        visible = await visible_entries(db, user_id, entry_ids)
        waiting.append(user_id)
        return visible

    async def answer_late(_: ReceivedRequest, connection: ClientConnection) -> None:
        await may_answer.wait()
        await connection.send(PNG.encode())

    viewing.env.web.serve("/a.png", answer_late)
    monkeypatch.setattr(view_images, "visible_entries", visible_then_waiting)
    views = [asyncio.create_task(viewing.view("/a.png")) for _ in range(20)]
    await until(lambda: len(waiting) == 20 and bool(viewing.env.web.seen("/a.png")))
    views[0].cancel()
    may_answer.set()

    shown = await asyncio.gather(*views[1:])

    assert {type(each) for each in shown} == {DownloadedImage}
    assert len(viewing.env.web.seen("/a.png")) == 1


async def test_a_slow_image_is_archived_although_its_viewer_no_longer_waits(viewing: Viewing) -> None:
    may_answer = asyncio.Event()

    async def answer_late(_: ReceivedRequest, connection: ClientConnection) -> None:
        await may_answer.wait()
        await connection.send(PNG.encode())

    viewing.env.web.serve("/a.png", answer_late)

    assert await viewing.view("/a.png", timedelta(0)) is None
    may_answer.set()
    assert isinstance(await viewing.view("/a.png"), DownloadedImage)
    assert len(viewing.env.web.seen("/a.png")) == 1


async def test_an_image_that_the_site_no_longer_has_is_asked_for_once(viewing: Viewing) -> None:
    viewing.env.web.serve("/a.png", Answer(status=404))
    gone = ImageDownloadFailed(Message("fetch.status", status=404), None)

    assert [await viewing.view("/a.png"), await viewing.view("/a.png")] == [gone, gone]
    assert len(viewing.env.web.seen("/a.png")) == 1


async def test_a_failed_image_is_not_asked_for_before_its_next_attempt(viewing: Viewing) -> None:
    viewing.env.web.serve("/a.png", Answer(status=500))
    for _ in range(5):
        assert isinstance(await viewing.view("/a.png"), ImageDownloadFailed)
    assert len(viewing.env.web.seen("/a.png")) == 1

    viewing.env.now += 6 * MINUTE
    viewing.env.web.serve("/a.png", PNG)

    assert isinstance(await viewing.view("/a.png"), DownloadedImage)


async def test_a_postponed_image_is_fetched_before_its_time(viewing: Viewing) -> None:
    viewing.env.web.serve("/a.png", PNG)
    await viewing.change(next_attempt_at="2099-01-01T00:00:00.000Z")

    assert isinstance(await viewing.view("/a.png"), DownloadedImage)


async def test_an_image_that_the_worker_is_fetching_is_not_fetched_twice(viewing: Viewing) -> None:
    [row] = await tasks(viewing.env)
    assert await take_image_tasks(viewing.env.db, [row["id"]], viewing.env.now)
    viewing.env.web.serve("/a.png", PNG)

    assert await viewing.view("/a.png", timedelta(0)) is None
    await viewing.change(status="success", object_key="images/1/abcdef01/0.png", claim_token=None, claimed_until=None)

    assert await viewing.view("/a.png") == StoredKey("images/1/abcdef01/0.png")
    assert viewing.env.web.seen("/a.png") == []


@pytest.mark.parametrize("policy", ["none", "starred"])
async def test_a_feed_that_archives_no_images_shows_them_without_storing_them(viewing: Viewing, policy: str) -> None:
    viewing.env.web.serve("/a.png", PNG)
    await viewing.policy(policy)

    assert isinstance(await viewing.view("/a.png"), DownloadedImage)
    assert (await tasks(viewing.env), await stored(viewing.env)) == ([], [])


async def test_a_failure_of_an_image_that_is_not_stored_is_not_repeated_for_each_viewer(viewing: Viewing) -> None:
    viewing.env.web.serve("/a.png", Answer(status=500))
    await viewing.policy("none")
    for _ in range(5):
        assert isinstance(await viewing.view("/a.png"), ImageDownloadFailed)
    assert len(viewing.env.web.seen("/a.png")) == 1

    viewing.env.now += 6 * MINUTE
    viewing.env.web.serve("/a.png", PNG)

    assert isinstance(await viewing.view("/a.png"), DownloadedImage)


async def test_only_the_latest_failures_are_remembered(viewing: Viewing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_images, "MAX_FAILURES", 2)
    await viewing.policy("none")

    for path in ("/1.png", "/2.png", "/3.png", "/3.png", "/1.png"):
        assert isinstance(await viewing.view(path), ImageDownloadFailed)

    assert [len(viewing.env.web.seen(path)) for path in ("/1.png", "/2.png", "/3.png")] == [2, 1, 1]


async def test_a_failed_image_is_not_asked_for_when_there_is_no_room_either(
    subscribers: Subscribers, alice: User
) -> None:
    viewing = await viewing_with(subscribers, alice, image_tools(subscribers.env, limit=10))
    await viewing.change(status="failed", last_error='{"code":"fetch.status","values":{"status":404}}')

    assert isinstance(await viewing.view("/a.png"), ImageDownloadFailed)
    assert viewing.env.web.seen("/a.png") == []


async def test_a_reader_of_slow_images_leaves_fetches_to_others(
    viewing: Viewing, subscribers: Subscribers, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: ReceivedRequest, connection: ClientConnection) -> None:
        await connection.until_asked_again()

    monkeypatch.setattr(view_images, "MAX_RUNNING_PER_USER", 3)
    bob = await subscribers.person("bob")
    await subscribers.subscribe(bob, viewing.env.web.url("/feed"))
    slow = [f"/slow-{number}.png" for number in range(5)]
    for path in slow:
        viewing.env.web.serve(path, never)
    viewing.env.web.serve("/a.png", PNG)

    assert [await viewing.view(path, timedelta(0)) for path in slow] == [None] * 5
    assert isinstance(await viewing.view("/a.png", viewer=bob), DownloadedImage)
    await until(lambda: all(viewing.env.web.seen(path) for path in slow[:3]))
    assert [viewing.env.web.seen(path) for path in slow[3:]] == [[], []]


async def test_an_image_whose_host_is_busy_is_asked_for_again(
    viewing: Viewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def wait_for_turn(tools: ImageTools, task: ImageTask) -> ImageDownloadFailed:
        return ImageDownloadFailed(Message("image.no_turn"), tools.clock() + MINUTE, counted=False)

    viewing.env.web.serve("/a.png", PNG)
    with monkeypatch.context() as busy:
        busy.setattr(view_images, "fetch_image", wait_for_turn)
        assert await viewing.view("/a.png") is None

    assert isinstance(await viewing.view("/a.png"), DownloadedImage)


async def test_an_image_that_others_take_each_time_is_not_waited_for_without_end(
    viewing: Viewing, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def taken_by_another(*_: object) -> None:
        return None

    monkeypatch.setattr(view_images, "take_image_task_now", taken_by_another)

    assert await viewing.view("/a.png") is None


async def test_an_image_is_shown_when_there_is_no_room_to_store_it(subscribers: Subscribers, alice: User) -> None:
    viewing = await viewing_with(subscribers, alice, image_tools(subscribers.env, limit=10))
    viewing.env.web.serve("/a.png", PNG)

    assert isinstance(await viewing.view("/a.png"), DownloadedImage)
    assert await stored(viewing.env) == []


async def test_an_entry_of_another_is_not_found(viewing: Viewing, subscribers: Subscribers) -> None:
    charlie = await subscribers.person("charlie")
    viewing.env.web.serve("/a.png", PNG)

    with pytest.raises(NotFound):
        await viewing.viewer.view(charlie.id, viewing.entry_id, viewing.env.web.url("/a.png"))
    assert viewing.env.web.seen("/a.png") == []


async def test_a_private_address_is_refused(viewing: Viewing) -> None:
    seen = await viewing.viewer.view(viewing.alice.id, viewing.entry_id, "http://169.254.169.254/latest", PATIENT)

    assert isinstance(seen, ImageDownloadFailed)


async def test_what_still_runs_at_the_end_gives_its_lease_back(viewing: Viewing) -> None:
    async def never(_: ReceivedRequest, connection: ClientConnection) -> None:
        await connection.until_asked_again()

    viewing.env.web.serve("/a.png", never)
    assert await viewing.view("/a.png", timedelta(0)) is None
    await until(lambda: bool(viewing.env.web.seen("/a.png")))

    await viewing.viewer.aclose()

    [row] = await tasks(viewing.env)
    assert (row["claim_token"], row["status"]) == (None, "pending")
