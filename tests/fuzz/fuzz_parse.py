"""Coverage-guided fuzzing of the parser: `python tests/fuzz/fuzz_parse.py [folder] -max_total_time=300`.

Needs atheris, which is not among the project's dependencies. Start it with a folder of feeds (tests/data/rss) to
begin from. Whatever is raised except NotAFeed, or takes longer than libFuzzer's -timeout, is a find.
"""

import sys

import atheris

with atheris.instrument_imports(include=["feedmill"]):
    from feedmill.collect.entries.identity import identify_entries
    from feedmill.collect.parsing.formats.dates import parse_date
    from feedmill.collect.parsing.parse_feed import parse_feed
    from feedmill.errors import NotAFeed


def try_parse(data: bytes) -> None:
    try:
        feed = parse_feed(data, content_type="text/xml", url="https://example.org/feed.xml")
    except NotAFeed:
        return
    assert all(identify_entries(feed.entries)), "an entry without identity"
    parse_date(data[:100].decode("utf-8", "replace"))


if __name__ == "__main__":
    atheris.Setup(sys.argv, try_parse)
    atheris.Fuzz()
