"""`feedmill show`: a feed with its entries, an entry with its text."""

from tests.cli.mill import Mill
from tests.flows.world import NOW, answer, item

HTML = "<p>Fish &amp; <b>chips</b></p><script>alert(1)</script>"


async def test_a_feed_is_shown_with_its_latest_entries(mill: Mill) -> None:
    url = mill.web.serve("/feed", answer(item("old"), item("new", date=NOW), title="News"))
    await mill.ok("add", url)

    told = (await mill.ok("show", url)).out
    [record] = (await mill.ok("show", "1", "--json", "--entries", "1")).records

    assert told.startswith("News\n")
    assert {"old", "new"} <= set(told.replace("\n", "\t").split("\t"))
    assert record["url"] == url
    assert len(record["latest"]) == 1


async def test_an_entry_is_shown_as_text_as_stored_and_with_all_fields(mill: Mill) -> None:
    url = mill.web.serve("/feed", answer(item("a", HTML, NOW)))
    await mill.ok("add", url)
    mill.web.serve("/feed", answer(item("a", "<p>Only chips</p>", NOW)))
    await mill.ok("refresh", "1")

    assert "\nFish & chips\n" in (await mill.ok("show", "entry:1")).out
    assert (await mill.ok("show", "entry:1", "--raw")).out == f"{HTML}\n"
    [entry] = (await mill.ok("show", "entry:1", "--json")).records
    assert (entry["guid"], entry["published_at"]) == ("guid-a", "2026-02-18T08:30:00.000Z")
    assert (entry["content_html"], entry["feed_url"]) == (HTML, url)
    assert [revision["content_html"] for revision in entry["revisions"]] == ["<p>Only chips</p>"]


async def test_what_is_not_there_is_said_so(mill: Mill) -> None:
    for name in ("entry:9", "entry:x", "9", "https://example.org/none"):
        done = await mill.run("show", name)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert (await mill.run("show", "1", "--raw")).code == 2
