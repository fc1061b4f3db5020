"""`feedmill import` and `feedmill export`."""

from tests.cli import new_interpreter
from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item

OPML = """<opml version="2.0"><body>
<outline text="Tech"><outline type="rss" text="One" xmlUrl="{one}" htmlUrl="https://one.example/"/></outline>
<outline type="rss" text="Two" xmlUrl="https://two.example/feed"/>
<outline type="rss" text="Bad" xmlUrl="ftp://bad.example/"/>
</body></opml>"""


async def test_a_list_is_imported_with_its_folders_and_failures_are_reported_by_line(cli: CommandLine) -> None:
    (cli.folder / "list.opml").write_text(OPML.format(one="https://one.example/feed"))

    done = await cli.run("import", "list.opml")

    assert (done.code, done.out.splitlines()[0]) == (0, "2 feeds added, 1 line could not be taken over")
    assert "feedmill refresh --due" in done.out
    assert done.err.startswith("line 4: “Bad” has an address that can’t be fetched")
    feeds = (await cli.ok("feeds", "--json")).records
    assert [(feed["title"], feed["folder"], feed["state"]) for feed in feeds] == [
        ("One", ["Tech"], "new"),
        ("Two", [], "new"),
    ]


async def test_importing_again_adds_nothing_and_an_export_can_be_imported(cli: CommandLine) -> None:
    (cli.folder / "list.opml").write_text(OPML.format(one="https://one.example/feed"))
    await cli.run("import", "list.opml")

    assert (await cli.ok("export", "out.opml")).out == "2 feeds written to out.opml\n"
    again = await cli.ok("import", "--json", "out.opml")

    assert again.records == [{"added": 0, "known": 2, "problems": []}]
    assert (cli.folder / "out.opml").read_text().count("xmlUrl") == 2
    assert '<outline text="Tech" title="Tech">' in (await cli.ok("export")).out


async def test_new_feeds_are_fetched_at_once_on_request(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a"), title="News"))
    (cli.folder / "list.opml").write_text(f'<opml><body><outline text="x" xmlUrl="{url}"/></body></opml>')

    done = await cli.ok("import", "--fetch", "--json", "list.opml")

    counted, fetched, summary = done.records
    assert counted["added"] == 1
    assert (fetched["url"], fetched["outcome"], fetched["new_entries"]) == (url, "updated", 1)
    assert summary["new_entries"] == 1


async def test_ten_thousand_feeds_are_imported_in_seconds(cli: CommandLine) -> None:
    lines = "".join(f'<outline text="{n}" xmlUrl="https://h{n % 700}.example/{n}"/>' for n in range(10_000))
    (cli.folder / "list.opml").write_text(f"<opml><body>{lines}</body></opml>")
    before = new_interpreter.cpu_seconds_of_children()

    done = await cli.run("import", "--json", "list.opml", run=new_interpreter.feedmill)

    assert done.records[0]["added"] == 10_000
    assert new_interpreter.cpu_seconds_of_children() - before < 15


async def test_a_file_that_is_not_opml_is_refused_in_one_line(cli: CommandLine) -> None:
    (cli.folder / "list.opml").write_text("hello")

    for name in ("list.opml", "missing.opml"):
        done = await cli.run("import", name)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert name in done.err
