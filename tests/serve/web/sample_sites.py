"""Sites of the scripted web to subscribe to."""

from tests.browser.sample_feeds import SampleEntry, SampleFeed, as_rss
from tests.scripted_web import Answer
from tests.serve.rest.site import Site

RSS = {"Content-Type": "application/rss+xml"}
HTML = {"Content-Type": "text/html"}


def feed(site: Site, path: str, title: str, entries: int = 3) -> str:
    """Serves a feed; its URL."""
    sample_feed = SampleFeed(path, title, [SampleEntry(f"{title} {n}", hours=n) for n in range(1, entries + 1)])
    return site.web.serve(path, Answer(as_rss(sample_feed), headers=RSS))


def page(site: Site, path: str, *feeds: str) -> str:
    """Serves a page that links to these feeds; its URL."""
    links = "".join(f'<link rel="alternate" type="application/rss+xml" href="{feed}">' for feed in feeds)
    return site.web.serve(path, Answer(f"<html><head>{links}</head></html>".encode(), headers=HTML))
