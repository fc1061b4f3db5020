"""`feedmill add`: any URL, one request, and a clear message about the result."""

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import answer, item
from tests.scripted_web import Answer, Web

FEED = answer(item("a"), item("b"), title="News")


def page(web: Web, *paths: str) -> str:
    links = "".join(f'<link rel="alternate" type="application/rss+xml" href="{path}" title="{path}">' for path in paths)
    body = f"<!doctype html><html><head><title>Page</title>{links}</head><body>Hello</body></html>"
    return web.serve("/page", Answer(body.encode(), headers={"Content-Type": "text/html"}))


async def test_the_response_of_the_discovery_is_the_first_fetch(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", FEED)

    done = await cli.ok("add", url)

    assert done.out == "added feed 1 News, 2 entries\n"
    assert len(cli.web.requests) == 1
    [feed] = (await cli.ok("feeds", "--json")).records
    assert (feed["url"], feed["entries"], feed["state"], feed["added_by_person"]) == (url, 2, "ok", True)


async def test_adding_a_feed_again_is_harmless_and_sends_no_request(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", FEED)
    await cli.ok("add", url)

    again = await cli.ok("add", url.replace("http", "HTTP") + "#top")

    assert again.out == f"{url} is there already: feed 1 News\n"
    assert len(cli.web.requests) == 1


async def test_the_only_feed_of_a_page_is_added(cli: CommandLine) -> None:
    cli.web.serve("/feed", FEED)

    done = await cli.ok("add", page(cli.web, "/feed"))

    assert done.out == "added feed 1 News, 2 entries\n"
    assert [request.path for request in cli.web.requests] == ["/page", "/feed"]


async def test_several_feeds_of_a_page_are_offered(cli: CommandLine) -> None:
    one, two = cli.web.serve("/one", FEED), cli.web.serve("/two", answer(item("c"), title="Two"))
    url = page(cli.web, "/one", "/two")

    offered = await cli.run("add", url)
    assert offered.code == 2
    assert one in offered.err
    assert two in offered.err
    assert "--best or --all" in offered.err
    assert (await cli.ok("feeds", "--json")).records == []

    assert (await cli.ok("add", "--best", url)).out == "added feed 1 News, 2 entries\n"
    everything = await cli.ok("add", "--all", "--json", url)
    assert [(added["status"], added["url"]) for added in everything.records] == [("exists", one), ("added", two)]


async def test_a_feed_at_a_common_path_is_found_although_the_page_does_not_link_to_it(cli: CommandLine) -> None:
    url = cli.web.serve("/feed.xml", FEED)

    [added] = (await cli.ok("add", "--json", page(cli.web))).records

    assert (added["status"], added["url"], added["new_entries"]) == ("added", url, 2)


async def test_a_page_without_a_feed_is_refused(cli: CommandLine) -> None:
    done = await cli.run("add", page(cli.web))

    assert done.code == 2
    assert (
        done.err
        == f"feedmill: {cli.web.url('/page')}: not a feed: it is a web page (HTML), and no feed was found on it\n"
    )


async def test_a_feed_that_is_down_is_added_anyway_on_request(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", Answer(status=404))

    refused = await cli.run("add", url)
    added = await cli.ok("add", "--anyway", "--json", url)

    assert (refused.code, refused.err) == (1, f"feedmill: {url}: HTTP 404; --anyway adds it all the same\n")
    assert added.records[0]["status"] == "added"
    assert [feed["state"] for feed in (await cli.ok("feeds", "--json")).records] == ["new"]


async def test_a_private_address_is_refused_unless_it_is_allowed(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", FEED)

    done = await cli.run("add", url, allow_private="")

    assert done.code == 2
    assert "127.0.0.1 is a private or special address" in done.err
    assert "allow_private" in done.err
    assert cli.web.requests == []


async def test_an_invalid_url_is_refused_in_one_line_and_the_others_are_added(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", FEED)

    done = await cli.run("add", "ftp://example.org/x", url)

    assert (done.code, done.out) == (2, "added feed 1 News, 2 entries\n")
    assert done.err.startswith("feedmill: ftp://example.org/x can't be fetched: ")
    assert done.err.count("\n") == 1


async def test_options_are_stored(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", FEED)

    await cli.ok("add", url, "--title", "Mine", "--folder", "A/B", "--interval", "2h", "--no-fetch")

    [feed] = (await cli.ok("feeds", "--json")).records
    assert (feed["title"], feed["folder"], feed["interval_seconds"], feed["state"]) == ("Mine", ["A", "B"], 7200, "new")
    assert cli.web.requests == []
    assert (await cli.run("add", url, "--interval", "often")).code == 2
