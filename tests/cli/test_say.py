"""What a stranger wrote can't steer the terminal of the person who reads it."""

import json

import pytest

from feedmill.cli.output.text import pluralize
from tests.cli.mill import Mill
from tests.www import Answer

EVIL = "a\x1b]0;owned\x07b\x9b2Jc\u202ed"
SEEN = "a�]0;owned�b�2Jc�d"


@pytest.fixture
async def evil(mill: Mill) -> Mill:
    """A mill with one feed that writes the same evil everywhere."""
    items = [{"id": "1", "title": EVIL, "content_text": EVIL, "authors": [{"name": EVIL}]}]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": EVIL, "items": items}).encode()
    url = mill.web.serve("/feed", Answer(body=body, headers={"Content-Type": "application/feed+json"}))
    assert SEEN in (await mill.ok("add", url)).out
    return mill


@pytest.mark.parametrize("command", ["feeds", "show 1", "show entry:1", "why 1", "pause 1", "remove --yes 1"])
async def test_a_title_can_not_steer_the_terminal(evil: Mill, command: str) -> None:
    assert SEEN in (await evil.ok(*command.split())).out
    assert "\x1b" not in (await evil.ok("feeds")).out


async def test_json_has_the_title_as_it_is_and_steers_nothing(evil: Mill) -> None:
    told = await evil.ok("feeds", "--json")

    assert told.records[0]["title"] == EVIL
    assert {sign for sign in told.out if not sign.isprintable()} == {"\n"}


async def test_an_entry_on_a_terminal_is_harmless_and_in_a_pipe_as_it_is_stored(evil: Mill) -> None:
    assert EVIL in (await evil.ok("show", "entry:1", "--raw")).out
    assert "owned" in (shown := await evil.on_terminal("show", "entry:1", "--raw"))
    assert "\x9b" not in shown


def test_one_is_not_many() -> None:
    assert [pluralize(n, "feed") for n in (0, 1, 2)] == ["0 feeds", "1 feed", "2 feeds"]
    assert [pluralize(n, "body is", "bodies are") for n in (1, 2)] == ["1 body is", "2 bodies are"]
