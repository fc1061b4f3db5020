"""The site and the users of the page tests; the starter feeds are never requested from the real web."""

import pytest

from feedmill.library.feeds.starter_feeds import TOPICS, StarterTopic
from feedmill.serve.web.subscriptions import starter_feeds
from tests.serve.web.conftest import alice, charlie, nobody, site
from tests.serve.web.valid_forms import STARTER

__all__ = ["alice", "charlie", "nobody", "site"]


@pytest.fixture(autouse=True)
def starter_on_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(starter_feeds, "TOPICS", (StarterTopic(TOPICS[0].key, [STARTER]),))
