"""`feedmill show`: a feed with its entries, an entry with its text."""

from tests.cli.command_line import CommandLine
from tests.flows.refresh_environment import NOW, answer, item

HTML = "<p>Fish &amp; <b>chips</b></p><script>alert(1)</script>"
LATEST_KEYS = "id guid link title author sort_at published_at undated in_feed revision_count"
ENTRY_KEYS = """
id feed_id guid sort_at in_feed first_seen_at last_seen_at published_at undated updated_at revision_count language
link title author image_url comments_url base_url categories enclosures summary content_html feed_url feed_title
revisions images"""
REVISION_KEYS = "id entry_id number seen_at link title author summary content_html"


async def test_a_feed_is_shown_with_its_latest_entries(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("old"), item("new", date=NOW), title="News"))
    await cli.ok("add", url)

    told = (await cli.ok("show", url)).out
    [record] = (await cli.ok("show", "1", "--json", "--entries", "1")).records

    assert told.startswith("News\n")
    assert {"old", "new"} <= set(told.replace("\n", "\t").split("\t"))
    assert record["url"] == url
    assert len(record["latest"]) == 1


async def test_an_entry_is_shown_as_text_as_stored_html_or_as_json(cli: CommandLine) -> None:
    url = cli.web.serve("/feed", answer(item("a", HTML, NOW)))
    await cli.ok("add", url)
    cli.web.serve("/feed", answer(item("a", "<p>Only chips</p>", NOW)))
    await cli.ok("refresh", "1")

    assert "\nFish & chips\n" in (await cli.ok("show", "entry:1")).out
    assert (await cli.ok("show", "entry:1", "--raw")).out == f"{HTML}\n"
    [entry] = (await cli.ok("show", "entry:1", "--json")).records
    assert (entry["guid"], entry["published_at"]) == ("guid-a", "2026-02-18T08:30:00.000Z")
    assert (entry["content_html"], entry["feed_url"]) == (HTML, url)
    assert [revision["content_html"] for revision in entry["revisions"]] == ["<p>Only chips</p>"]


async def test_the_keys_of_json_output_are_stable(cli: CommandLine) -> None:
    files = '<category>Food</category><enclosure url="https://example.org/a.mp3" type="audio/mpeg" length="7"/>'
    url = cli.web.serve("/feed", answer(item("a", HTML, NOW).replace("</item>", f"{files}</item>")))
    await cli.ok("add", url)
    cli.web.serve("/feed", answer(item("a", "<p>Only chips</p>", NOW)))
    await cli.ok("refresh", "1")

    [feed] = (await cli.ok("show", url, "--json")).records
    [entry] = (await cli.ok("show", "entry:1", "--json")).records

    assert list(feed["latest"][0]) == LATEST_KEYS.split()
    assert list(entry) == ENTRY_KEYS.split()
    assert list(entry["revisions"][0]) == REVISION_KEYS.split()
    assert entry["categories"] == ["Food"]
    assert entry["enclosures"] == [
        {"url": "https://example.org/a.mp3", "type": "audio/mpeg", "length": 7, "duration": None, "chapters": []}
    ]
    assert entry["in_feed"] is True


async def test_a_missing_feed_or_entry_is_reported(cli: CommandLine) -> None:
    for name in ("entry:9", "entry:x", "9", "https://example.org/none"):
        done = await cli.run("show", name)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert (await cli.run("show", "1", "--raw")).code == 2
