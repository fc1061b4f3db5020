"""Sites of the scripted web to subscribe to."""

from tests.browser.papers import Paper, Piece, as_rss
from tests.serve.rest.site import Site
from tests.www import Answer

RSS = {"Content-Type": "application/rss+xml"}
HTML = {"Content-Type": "text/html"}


def feed(site: Site, path: str, title: str, entries: int = 3) -> str:
    """The address of a feed."""
    paper = Paper(path, title, [Piece(f"{title} {n}", hours=n) for n in range(1, entries + 1)])
    return site.web.serve(path, Answer(as_rss(paper), headers=RSS))


def page(site: Site, path: str, *feeds: str) -> str:
    """The address of a page that names these feeds."""
    links = "".join(f'<link rel="alternate" type="application/rss+xml" href="{feed}">' for feed in feeds)
    return site.web.serve(path, Answer(f"<html><head>{links}</head></html>".encode(), headers=HTML))
