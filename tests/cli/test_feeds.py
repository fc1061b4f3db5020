"""`feedmill feeds`, `pause`, `resume` and `remove`."""

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer


async def test_the_list_in_a_pipe_is_complete_with_feeds_that_need_attention_first(cli: CommandLine) -> None:
    long_title = "A title that is much wider than any terminal " * 5
    good, bad = cli.web.serve("/good", answer(item("a"), title=long_title)), cli.web.serve("/bad", Answer(status=404))
    await cli.ok("add", good)
    await cli.ok("add", "--anyway", bad)
    await cli.run("refresh", "2")

    listed = await cli.ok("feeds")

    header, first, second = (line.split("\t") for line in listed.out.splitlines())
    assert header == ["id", "title", "state", "last", "next", "why", "entries"]
    assert (first[0], first[2]) == ("2", "failing")
    assert "HTTP 404" in first[5]
    assert (second[0], second[1], second[2], second[6]) == ("1", long_title.strip(), "ok", "1")


async def test_the_list_on_a_terminal_is_truncated_to_its_width(cli: CommandLine) -> None:
    await cli.ok("add", "--no-fetch", "--title", "A title that is wider than the terminal " * 3, cli.web.url("/feed"))

    lines = (await cli.on_terminal("feeds", columns=70)).splitlines()

    assert max(len(line.rstrip()) for line in lines) <= 70
    [row] = [line.split() for line in lines if "A title" in line]
    assert (row[0], row[-1]) == ("1", "0")
    assert {"new", "never", "now"} <= set(row)
    assert any("…" in word for word in row)


async def test_the_list_on_a_narrow_terminal_keeps_the_id_and_leaves_out_the_last_columns(cli: CommandLine) -> None:
    await cli.ok("add", "--no-fetch", "--title", "A title", cli.web.url("/feed"))

    lines = (await cli.on_terminal("feeds", columns=24)).splitlines()

    assert [line.split() for line in lines if "title" in line] == [["id", "title", "state"], ["1", "A", "title", "new"]]


async def test_the_list_can_be_filtered_by_state(cli: CommandLine) -> None:
    await cli.ok("add", "--no-fetch", cli.web.url("/one"), cli.web.url("/two"))
    await cli.ok("pause", "1")

    assert [feed["id"] for feed in (await cli.ok("feeds", "--state", "due", "--json")).records] == [2]
    assert [feed["id"] for feed in (await cli.ok("feeds", "--state", "disabled", "--json")).records] == [1]
    assert (await cli.ok("feeds", "--state", "error")).out == "there are no such feeds\n"


async def test_a_paused_feed_is_not_fetched_until_it_is_resumed(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a")))
    await cli.ok("add", "--no-fetch", url)

    assert "feedmill resume 1" in (await cli.ok("pause", url)).out
    assert (await cli.ok("refresh", "--due")).records[-1]["feeds"] == 0
    refused = await cli.run("refresh", "1")
    assert (refused.code, refused.out) == (2, "")
    assert "paused by hand" in refused.err
    assert cli.web.requests == []

    await cli.ok("resume", "1")
    assert (await cli.ok("refresh", "--due")).records[-1]["new_entries"] == 1


async def test_removing_a_feed_needs_a_confirmation(cli: CommandLine) -> None:
    await cli.ok("add", "--no-fetch", cli.web.url("/feed"))

    unsure = await cli.run("remove", "1")
    assert unsure.code != 0
    assert len((await cli.ok("feeds", "--json")).records) == 1

    assert (await cli.ok("remove", "1", "--yes")).out.startswith("removed 1 ")
    assert (await cli.ok("feeds")).out == "there are no feeds yet: 'feedmill add URL' adds one\n"
    unknown = await cli.run("remove", "1", "--yes")
    assert (unknown.code, unknown.err) == (2, "feedmill: there is no feed 1: 'feedmill feeds' lists all feeds\n")
