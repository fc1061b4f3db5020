"""Feeds with stories: Alice and Bob read them, Charlie must see nothing."""

import pytest

from tests.flows.refresh_environment import RefreshEnvironment
from tests.library.stories.story_feeds import StoryFeeds
from tests.library.subscribers import Subscribers


@pytest.fixture
def stories(env: RefreshEnvironment) -> StoryFeeds:
    return StoryFeeds(env)


@pytest.fixture
def any_stories(any_env: RefreshEnvironment) -> StoryFeeds:
    return StoryFeeds(any_env)


@pytest.fixture
def subscribers(stories: StoryFeeds) -> Subscribers:
    return stories.subscribers
