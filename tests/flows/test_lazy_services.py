"""A refresh makes the services of `library/` when it brings something that concerns them, and not before."""

from dataclasses import replace
from pathlib import Path

import pytest

from feedmill.collect.refresh import write_nothing
from feedmill.lazy_services import LazyServices, lazy_writers
from feedmill.model.feed import Feed, FeedStatus
from feedmill.model.refresh import Unchanged
from feedmill.settings import load_settings
from tests.flows.archived_images import image_tools
from tests.flows.refresh_environment import HOUR, RefreshEnvironment, answer, item
from tests.scripted_web import Answer

FIRST = answer(item("1"))


def _lazy(env: RefreshEnvironment, folder: Path) -> LazyServices:
    """The services of the environment, whose writers its refreshes have from now on."""
    settings, images, client = load_settings(data=folder), image_tools(env), env.client
    services = LazyServices(lambda: (settings, env.tools, images, client, (client, client)))
    env.tools = replace(env.tools, writers=lazy_writers(services, write_nothing))
    return services


async def _known_feed(env: RefreshEnvironment) -> Feed:
    feed = await env.add(served=FIRST)
    await env.refresh(feed)
    return feed


async def test_a_healthy_feed_without_news_uses_no_service(env: RefreshEnvironment, tmp_path: Path) -> None:
    feed = await _known_feed(env)
    services = _lazy(env, tmp_path)

    decision = await env.later(HOUR, feed)

    assert isinstance(decision, Unchanged)
    assert not services.are_made


@pytest.mark.parametrize("served", [answer(item("1"), item("2")), Answer(status=404)], ids=["new entry", "failure"])
async def test_news_and_failures_use_the_services(env: RefreshEnvironment, tmp_path: Path, served: Answer) -> None:
    feed = await _known_feed(env)
    services = _lazy(env, tmp_path)

    await env.later(HOUR, feed, served)

    assert services.are_made


async def test_a_feed_that_heals_without_news_uses_the_services(env: RefreshEnvironment, tmp_path: Path) -> None:
    feed = await _known_feed(env)
    await env.change(feed, status=FeedStatus.ERROR)
    services = _lazy(env, tmp_path)

    decision = await env.later(HOUR, feed)

    assert isinstance(decision, Unchanged)
    assert services.are_made


async def test_closing_makes_no_services(env: RefreshEnvironment, tmp_path: Path) -> None:
    services = _lazy(env, tmp_path)

    await services.aclose()

    assert not services.are_made
