"""A pasted feed is parsed once between discovery and its first fetch, off the event loop when it is large."""

import threading
from collections.abc import Callable
from typing import Any

import pytest

from feedmill.collect.discovery.discover import FetchedFeed, discover_feeds_at
from feedmill.collect.first_fetch import add_fetched_feed
from feedmill.collect.parsing import parse_off_loop
from feedmill.library.subscriptions.subscribe import SubscribeRequest, discover, subscribe_to_candidate
from feedmill.model.user import User
from feedmill.store.feeds.add_feeds import NewFeed
from tests.flows.refresh_environment import RefreshEnvironment, answer, item
from tests.library.subscribers import Subscribers
from tests.scripted_web import Answer
from tests.serve.rest.sample_feeds import page_with

HERE, IN_A_THREAD, IN_A_PROCESS = "on the event loop", "in a thread", "in a process"


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Where each document was parsed, in order."""
    seen: list[str] = []
    loop_thread = threading.current_thread()

    def watched(parse: Callable[..., Any], where: str | None = None) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            seen.append(where or (HERE if threading.current_thread() is loop_thread else IN_A_THREAD))
            return parse(*given, **named)

        return run

    for name in ("parse_feed", "parse_well_formed_utf8"):
        monkeypatch.setattr(parse_off_loop, name, watched(getattr(parse_off_loop, name)))
    monkeypatch.setattr(parse_off_loop, "parse_in_process", watched(parse_off_loop.parse_in_process, IN_A_PROCESS))
    return seen


def feed_larger_than(size: int) -> Answer:
    """A feed with one small entry and many spaces, which are fast to parse."""
    return answer(item("a"), channel=f"<!--{' ' * size}-->")


async def test_a_feed_that_is_subscribed_to_is_parsed_once(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, parses: list[str]
) -> None:
    url = env.web.serve("/feed", answer(item("a")))

    done = await subscribers.subscribe(alice, url)

    assert (done.subscription.unread_count, parses) == (1, [HERE])


async def test_a_feed_that_is_discovered_and_then_chosen_is_parsed_once(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, parses: list[str]
) -> None:
    url = env.web.serve("/feed", answer(item("a")))
    await discover(env.tools, alice, url, subscribers.answers)

    done = await subscribe_to_candidate(env.tools, alice, SubscribeRequest(url), subscribers.answers)

    assert (done.subscription.unread_count, parses) == (1, [HERE])


async def test_each_feed_of_a_page_is_parsed_once(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, parses: list[str]
) -> None:
    one = env.web.serve("/one", answer(item("a")))
    env.web.serve("/two", answer(item("b")))
    page = env.web.serve("/", page_with("/one", "/two"))
    await discover(env.tools, alice, page, subscribers.answers)

    done = await subscribers.subscribe(alice, one)

    assert (done.subscription.unread_count, parses) == (1, [HERE] * len(("page", "one", "two")))


async def test_a_feed_that_is_added_by_command_is_parsed_once(env: RefreshEnvironment, parses: list[str]) -> None:
    found = await discover_feeds_at(env.client, env.web.serve("/feed", answer(item("a"))))
    assert isinstance(found, FetchedFeed)

    feed, _ = await add_fetched_feed(env.tools, NewFeed(found.url), found)

    assert (feed.entry_count, parses) == (1, [HERE])


async def test_a_medium_feed_is_parsed_once_in_a_thread(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, parses: list[str]
) -> None:
    url = env.web.serve("/feed", feed_larger_than(parse_off_loop.INLINE_WELL_FORMED))

    done = await subscribers.subscribe(alice, url)

    assert (done.subscription.unread_count, parses) == (1, [IN_A_THREAD])


@pytest.mark.external
async def test_a_large_feed_is_parsed_once_in_another_process(
    env: RefreshEnvironment, subscribers: Subscribers, alice: User, parses: list[str]
) -> None:
    url = env.web.serve("/feed", feed_larger_than(parse_off_loop.THREAD_WELL_FORMED))

    done = await subscribers.subscribe(alice, url)

    assert (done.subscription.unread_count, parses) == (1, [IN_A_PROCESS])
