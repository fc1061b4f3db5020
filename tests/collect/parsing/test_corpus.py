"""Real feeds, kept outside the repository."""

from pathlib import Path

import pytest

from feedmill.collect.parsing.parse_feed import parse_feed
from feedmill.errors import NotAFeed

CORPUS = Path(__file__).parents[4] / "shared" / "corpus"
NO_FEEDS = {"README.md"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside the project")


def test_every_real_feed_is_parsed_and_other_documents_are_refused() -> None:
    refused = set()

    for path in sorted(CORPUS.iterdir()):
        try:
            parse_feed(path.read_bytes())
        except NotAFeed:
            refused.add(path.name)

    assert refused == NO_FEEDS
