"""Atom and JSON Feed: our parser, feedparser and the rules of the specifications agree about them."""

from datetime import UTC, datetime, timedelta
from xml.etree.ElementTree import fromstring

import feedparser
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.library.output_feeds.addresses import OutputAddress, OutputFormat
from feedmill.library.output_feeds.read_page import OutputEntry, SourceFeed
from feedmill.model.parsed_feed import Enclosure
from feedmill.model.refresh import Revision
from feedmill.model.timestamps import to_iso
from feedmill.serve.output_feeds.atom import write_atom
from feedmill.serve.output_feeds.document import OutputDocument
from feedmill.serve.output_feeds.json_feed import write_json_feed
from feedmill.store.entries.add_entries import steps_to_add_revisions
from tests.library.small_library import NOW, SmallLibrary
from tests.serve.output_feeds.atom_rules import ATOM, atom_problems
from tests.serve.output_feeds.json_feed_rules import json_feed_problems
from tests.serve.output_feeds.output_reader import OutputReader, make_output_feed, parsed
from tests.serve.rest.site import ORIGIN, Person, Site

HOSTILE = (
    '<p onclick="x()">A &amp; B]]&gt;<script>x()</script><iframe src="https://evil.example/"></iframe>'
    '<a href="javascript:x()">link</a><img src="/rel.png" onerror="x()"></p>\x0c 🌾 磨坊'
)


@pytest.fixture
async def alice(site: Site) -> Person:
    return await site.person("alice")


@pytest.fixture
async def reader(site: Site, library: SmallLibrary, alice: Person) -> OutputReader:
    """A folder with an ordinary entry, a hostile one, and one that has nothing but a text."""
    feed = await library.feed("mills")
    subscription = await library.subscribe(alice.user, feed, "Mills & <b>Millers</b>")
    folder = await library.folder(alice.user, "Craft", subscription)
    await library.arrive(
        feed,
        "Ordinary",
        author="Ada",
        language="en-GB",
        categories=("wind", "water & stone"),
        comments_url="https://mills.example.org/1#comments",
        image_url="https://mills.example.org/1.png",
        enclosures=(Enclosure("https://mills.example.org/1.mp3", "audio/mpeg", 1234, timedelta(minutes=3)),),
        updated_at=NOW + timedelta(days=1),
    )
    await library.arrive(
        feed,
        "Hostile <b>title</b> & \x08more",
        link="https://mills.example.org/2",
        author='<i>"Eve"</i>',
        language="x y<z>",
        base_url="https://mills.example.org/",
        content_html=HOSTILE,
        categories=('"<&>', "\ufffe"),
        enclosures=(
            Enclosure("https://mills.example.org/2", "not a type", -1),
            Enclosure("https://mills.example.org/3"),
        ),
    )
    await library.arrive(feed, "Bare", guid="bare", link=None, undated=True, content_html=None)
    return await make_output_feed(site, alice, f"folder/{folder}")


async def test_the_rules_of_atom_hold(reader: OutputReader) -> None:
    document = (await reader.atom()).content

    assert atom_problems(document) == []


async def test_the_rules_of_atom_hold_for_an_empty_feed_and_for_pages(site: Site, alice: Person) -> None:
    empty = await make_output_feed(site, alice, "starred")

    assert atom_problems((await empty.atom()).content) == []
    assert json_feed_problems((await empty.get(empty.json_url)).content) == []


async def test_the_rules_of_json_feed_hold(reader: OutputReader) -> None:
    assert json_feed_problems((await reader.get(reader.json_url)).content) == []


async def test_our_parser_reads_both_formats_alike(reader: OutputReader) -> None:
    atom, json_feed = parsed(await reader.atom()), parsed(await reader.get(reader.json_url))

    assert (atom.format, json_feed.format) == ("atom10", "jsonfeed11")
    assert (atom.title, json_feed.title) == ("Craft", "Craft")
    same = ("guid", "link", "title", "author", "content_html", "published_at", "updated_at", "categories")
    rows = [[[getattr(entry, name) for name in same] for entry in feed.entries] for feed in (atom, json_feed)]
    assert rows[0][0] == rows[1][0]
    assert rows[0][2] == rows[1][2]
    assert atom.entries[2].author == "Ada"
    assert atom.entries[2].enclosures[0].length == 1234
    assert atom.entries[2].language == "en-GB"
    assert atom.entries[0].author == "Mills & Millers"


async def test_links_have_no_tracking_parameters(site: Site, alice: Person) -> None:
    library = SmallLibrary(site.app.db)
    feed = await library.feed()
    await library.subscribe(alice.user, feed)
    link = "https://mills.example.org/1?id=7"
    sent = {"link": f"{link}&utm_source=rss", "comments_url": f"{link}&fbclid=x#comments"}
    await library.arrive(feed, "Tracked", content_html=f'<a href="{link}&amp;utm_medium=feed">1</a>', **sent)

    reader = await make_output_feed(site, alice, "all")
    atom, json_feed = (await reader.atom()).text, (await reader.get(reader.json_url)).text

    for text in (atom, json_feed):
        assert link in text
        assert "utm_" not in text
        assert "fbclid" not in text


async def test_feedparser_reads_the_same(reader: OutputReader) -> None:
    answer = await reader.atom()
    ours = parsed(answer)

    theirs = feedparser.parse(answer.content, response_headers={"content-type": answer.headers["content-type"]})

    assert not theirs.bozo
    assert (theirs.version, theirs.feed.title, theirs.feed.id) == ("atom10", ours.title, ours.id)
    assert [entry.id for entry in theirs.entries] == [entry.guid for entry in ours.entries]
    assert [entry.title for entry in theirs.entries] == [entry.title for entry in ours.entries]
    # feedparser takes the id for a missing link.
    assert [entry.link for entry in theirs.entries[1:]] == [entry.link for entry in ours.entries[1:]]
    assert [entry.author for entry in theirs.entries] == [entry.author for entry in ours.entries]
    assert {entry.source.title for entry in theirs.entries} == {"Mills & Millers"}
    assert [tag.term for tag in theirs.entries[2].tags] == ["wind", "water & stone"]
    assert theirs.entries[2].enclosures[0].href == "https://mills.example.org/1.mp3"


async def test_the_html_is_safe_and_complete(reader: OutputReader) -> None:
    html = (await reader.json())["items"][1]["content_html"]

    assert 'src="https://mills.example.org/rel.png"' in html
    assert "🌾 磨坊" in html
    assert [word for word in ("script", "onclick", "onerror", "javascript:", "<iframe") if word in html] == []


async def test_entries_keep_their_ids_in_all_feeds_and_name_their_source(
    site: Site, alice: Person, reader: OutputReader
) -> None:
    other = await make_output_feed(site, alice, "all")

    ids = [[item["id"] for item in (await each.json())["items"]] for each in (reader, other)]
    [first, *_] = fromstring((await reader.atom()).content).iterfind(f"{ATOM}entry")

    assert ids[0] == ids[1]
    assert all(id.startswith("urn:uuid:") for id in ids[0])
    assert first.findtext(f"{ATOM}source/{ATOM}title") == "Mills & Millers"
    assert (await reader.json())["items"][0]["_source"]["title"] == "Mills & Millers"


async def test_when_an_undated_entry_was_found_is_no_date_of_its_publication(reader: OutputReader) -> None:
    dates = [
        entry.findtext(f"{ATOM}published") for entry in fromstring((await reader.atom()).content).iter(f"{ATOM}entry")
    ]

    assert [date is None for date in dates] == [True, False, False]
    assert "date_published" not in (await reader.json())["items"][0]


async def test_a_revised_entry_has_its_new_text_and_the_date_of_that(
    site: Site, library: SmallLibrary, reader: OutputReader
) -> None:
    before = (await reader.json())["items"][2]
    revision = Revision(1, 1, "d2", "https://example.org/new", "Revised", "Ada", None, "<p>new</p>")

    await site.app.db.batch(steps_to_add_revisions([revision], to_iso(NOW + timedelta(days=2))))
    after = (await reader.json())["items"][2]

    assert (before["title"], before["date_modified"]) == ("Ordinary", "2026-02-19T08:30:00.000Z")
    assert (after["title"], after["content_html"]) == ("Revised", "<p>new</p>")
    assert after["date_modified"] == "2026-02-20T08:30:00.000Z"
    assert (after["id"], after["date_published"]) == (before["id"], before["date_published"])


async def test_links_of_pages(reader: OutputReader) -> None:
    first = fromstring((await reader.get(f"{reader.atom_url}?entries=1")).content)
    links = {link.get("rel"): link.get("href") for link in first.iterfind(f"{ATOM}link")}
    second = fromstring((await reader.get(str(links["next"]))).content)

    assert links["self"] == f"{reader.atom_url}?entries=1"
    assert links["first"] == reader.atom_url
    assert str(links["next"]).startswith(f"{reader.atom_url}?entries=1&before=")
    assert str(links["alternate"]).startswith(f"{ORIGIN}/folder/")
    assert atom_problems((await reader.get(str(links["next"]))).content) == []
    assert second.findtext(f"{ATOM}id") == first.findtext(f"{ATOM}id")


# --- any text ------------------------------------------------------------------------------------------------

# That can be stored: without lone surrogates.
any_text = st.text(max_size=30)


@given(any_text, any_text, any_text, st.lists(any_text, max_size=3), any_text, any_text)
def test_any_text_makes_a_valid_document(
    title: str, author: str, html: str, categories: list[str], type: str, language: str
) -> None:
    entry = OutputEntry(
        id="urn:uuid:5a9c6b8e-0000-5000-8000-000000000001",
        title=title,
        link="https://example.org/1",
        author=f"A{author}",
        html=html,
        language=language,
        image_url=None,
        comments_url=None,
        published_at=NOW,
        updated_at=datetime(1970, 1, 1, tzinfo=UTC),
        categories=tuple(categories),
        enclosures=(Enclosure("https://example.org/1.mp3", type, 0),),
        source=SourceFeed("urn:uuid:5a9c6b8e-0000-5000-8000-000000000002", title, None),
    )
    address = OutputAddress("https://feeds.example.org", "secret", OutputFormat.ATOM)
    document = OutputDocument(
        address, "urn:uuid:1", title, "https://feeds.example.org/all", NOW, [entry], address.url, None, ""
    )

    assert atom_problems(write_atom(document)) == []
    assert json_feed_problems(write_json_feed(document)) == []


def test_the_rules_find_what_is_wrong() -> None:
    """Each document breaks one rule."""
    head = '<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:x:1</id><title>t</title><updated>2026-01-01T00:00:00Z</updated>'
    head += '<link rel="self" href="https://x.example/"/>'
    entry = "<entry><id>urn:x:2</id><title>t</title><updated>2026-01-01T00:00:00Z</updated>"
    author, content = "<author><name>a</name></author>", '<content type="html">c</content>'
    wrong = [
        f"{head}</feed>",
        f"{head}{entry}{content}</entry></feed>",
        f"{head}{author}{entry}</entry></feed>",
        f"{head}{author}{entry}{content}{content}</entry></feed>",
        f"{head}{author}{entry}{content}</entry>{entry}{content}</entry></feed>",
        f"{head.replace('urn:x:1', 'relative')}{author}</feed>",
        f"{head.replace('00:00:00Z', '00:00')}{author}</feed>",
        f"{head.replace('<title>t', '<title><b>t</b>')}{author}</feed>",
        f'{head}{author}<link rel="next" href="https://x.example/2"/><link rel="next" href="https://x.example/3"/></feed>',
        f"{head}{author}<other xmlns='urn:other'/></feed>",
    ]

    assert atom_problems(f"{head}{author}{entry}{content}</entry></feed>".encode()) == []
    assert [document for document in wrong if not atom_problems(document.encode())] == []
