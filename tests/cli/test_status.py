"""`feedmill status`: counts, as text and as JSON."""

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item


async def test_everything_is_counted(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a", '<img src="/x.png">'), item("b")))
    await cli.ok("add", url)
    await cli.ok("add", "--no-fetch", cli.web.url("/other"))

    [status] = (await cli.ok("status", "--json")).records

    feeds = {name: status["feeds"][name] for name in ("total", "active", "due", "new", "failing", "disabled")}
    assert feeds == {"total": 2, "active": 2, "due": 1, "new": 1, "failing": 0, "disabled": 0}
    assert (status["entries"], status["images"]["pending"], status["raw_bodies"]) == (2, 1, 1)
    assert status["database_bytes"] > 0
    assert status["object_bytes"] > 0
    assert set(status["pools"]) == {"titles", "contents"}
    assert status["server"] == {"running": False, "process": None}


async def test_the_text_has_the_same_counts(cli: CommandLine) -> None:
    told = (await cli.ok("status")).out

    assert told.startswith("feeds     0: 0 due")
    assert "server    none runs on data" in told
