"""`feedmill why`: the explanation of a feed's schedule."""

import re

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer


async def test_a_throttled_feed_says_how_long_its_server_asked_us_to_wait(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", Answer(status=429, headers={"Retry-After": "7200"}))
    await cli.ok("add", "--no-fetch", url)
    await cli.run("refresh", "1")

    told = (await cli.ok("why", url)).out

    assert "Its server asked us to wait" in told
    # A few minutes more, because other feeds wait for the same moment.
    assert re.search(r"The next fetch is in 2(\.1)? h", told)
    assert "HTTP 429" in told


async def test_a_feed_with_hints_names_their_source(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a"), channel="<ttl>240</ttl>", title="Slow"))
    await cli.ok("add", url)

    [told] = (await cli.ok("why", "1", "--json")).records

    assert (told["title"], told["url"], told["state"]) == ("Slow", url, "ok")
    assert any("asks for 4 h between two fetches (ttl)" in sentence for sentence in told["sentences"])
    assert [(fetch["outcome"], fetch["http_status"], fetch["new_entries"]) for fetch in told["fetches"]] == [
        ("updated", 200, 1)
    ]


async def test_a_missing_feed_is_reported(cli: CommandLine) -> None:
    done = await cli.run("why", "7")

    assert (done.code, done.out) == (2, "")
    assert done.err == "feedmill: there is no feed 7: 'feedmill feeds' lists all feeds\n"
