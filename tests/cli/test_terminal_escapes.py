"""Escape sequences in a feed's text do not reach the terminal."""

import json

import pytest

from feedmill.cli.output.format_text import pluralize
from tests.cli.command_line import CommandLine
from tests.scripted_web import Answer

ESCAPES = "a\x1b]0;owned\x07b\x9b2Jc\u202ed"
PRINTED = "a�]0;owned�b�2Jc�d"


@pytest.fixture
async def escapes(cli: CommandLine) -> CommandLine:
    """A command line with one feed whose texts all contain escape sequences."""
    items = [{"id": "1", "title": ESCAPES, "content_text": ESCAPES, "authors": [{"name": ESCAPES}]}]
    body = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": ESCAPES, "items": items}).encode()
    url = cli.web.serve("/feed", Answer(body=body, headers={"Content-Type": "application/feed+json"}))
    assert PRINTED in (await cli.ok("add", url)).out
    return cli


@pytest.mark.parametrize("command", ["feeds", "show 1", "show entry:1", "why 1", "pause 1", "remove --yes 1"])
async def test_escape_sequences_in_a_title_are_not_printed(escapes: CommandLine, command: str) -> None:
    assert PRINTED in (await escapes.ok(*command.split())).out
    assert "\x1b" not in (await escapes.ok("feeds")).out


async def test_json_output_has_the_title_unchanged_and_no_control_characters(escapes: CommandLine) -> None:
    listed = await escapes.ok("feeds", "--json")

    assert listed.records[0]["title"] == ESCAPES
    assert {sign for sign in listed.out if not sign.isprintable()} == {"\n"}


async def test_an_entry_is_cleaned_on_a_terminal_and_unchanged_in_a_pipe(escapes: CommandLine) -> None:
    assert ESCAPES in (await escapes.ok("show", "entry:1", "--raw")).out
    assert "owned" in (shown := await escapes.on_terminal("show", "entry:1", "--raw"))
    assert "\x9b" not in shown


def test_counts_take_the_singular_or_the_plural() -> None:
    assert [pluralize(n, "feed") for n in (0, 1, 2)] == ["0 feeds", "1 feed", "2 feeds"]
    assert [pluralize(n, "body is", "bodies are") for n in (1, 2)] == ["1 body is", "2 bodies are"]
