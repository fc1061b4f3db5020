"""Every command works in an interpreter that has imported nothing yet, as a shell starts it."""

import pytest

from feedmill.cli import COMMANDS
from tests.cli.command_line import CommandLine
from tests.cli.new_interpreter import feedmill
from tests.flows.refresh_environment import answer, item, rss

# In this order, each using what those before it left; with a word that it prints. The feed is at {feed}.
JOURNEY = {
    "settings": "port = 8000",
    "migrate": "applied 0001 base",
    "doctor": "the database reads and writes",
    "completion bash": "_FEEDMILL_COMPLETE=bash_complete",
    "parse feed.xml": '"title":"News"',
    "user add alice": "the first account",
    "add {feed}": "added feed 1 News, 2 entries",
    "feeds": "News",
    "show 1": "Fish & chips",
    "why 1": "It is healthy",
    "pause 1": "feedmill resume 1",
    "resume 1": "News",
    "refresh --all --json": '"failed": 0',
    "export list.opml": "1 feed written",
    "import list.opml": "0 feeds added",
    "pool create news": "1 news: 2 titles",
    "views create": "created items, titles, contents",
    "filter list alice": "there are no filters",
    "output-feed list alice": "there are no output feeds",
    "mcp alice": "",
    "status": "feeds     1: ",
    "purge": "dropped",
    "backup kept": "backed up to kept",
    "restore --all": "1 body replayed",
    "remove --yes 1": "removed 1 ",
}
# Started in a new interpreter by the tests of test_serve.py, test_demo.py and test_scaled_out.py.
SERVERS = {"serve", "demo", "api", "scheduler", "worker"}


@pytest.mark.timeout(1200)
async def test_every_command_works_in_a_new_interpreter(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("Fish & chips"), item("b"), title="News"))
    (cli.folder / "feed.xml").write_bytes(rss(item("a"), title="News"))

    for command, word in JOURNEY.items():
        done = await cli.run(*command.format(feed=url).split(), typed="correct horse\n", run=feedmill)

        assert (done.code, word in done.out) == (0, True), (command, done)

    assert {command.split()[0] for command in JOURNEY} | SERVERS == COMMANDS.keys()
