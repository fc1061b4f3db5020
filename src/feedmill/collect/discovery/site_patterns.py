"""Derives the feed URLs of well-known sites from the URL of a page."""

import re
from collections.abc import Callable, Iterator
from urllib.parse import SplitResult, parse_qs, quote, urlsplit

from feedmill.collect.discovery.site_software import SiteFeed, origin, software_feeds
from feedmill.html.web_page import WebPage
from feedmill.model.hosts import host_of

SiteRule = Callable[[SplitResult, WebPage], Iterator[SiteFeed]]

_CHANNEL = r"UC[\w-]{22}"
_CHANNEL_IN_PAGE = tuple(
    re.compile(pattern)
    for pattern in (
        rf'<link rel="canonical" href="https://www\.youtube\.com/channel/({_CHANNEL})"',
        rf'<meta itemprop="(?:identifier|channelId)" content="({_CHANNEL})"',
        rf'"externalId":"({_CHANNEL})"',
        rf'"externalChannelId":"({_CHANNEL})"',
        rf'"channelId":"({_CHANNEL})"',
    )
)
_GITHUB_PAGES = frozenset(
    {"about", "collections", "explore", "features", "login", "marketplace", "orgs", "pricing", "search"}
    | {"notifications", "settings", "signup", "sponsors", "topics", "trending"}
)
_PODCAST_FEED = re.compile(r'"feedUrl":"(https?:[^"\\]{5,500})"')


def site_feeds(page: WebPage) -> list[SiteFeed]:
    """Returns the feeds that the page's site is known to have, the closest to the page first."""
    parts = urlsplit(page.url)
    host = host_of(page.url).removeprefix("www.")
    rule = _SITES.get(host) or _SITES.get("*." + host.partition(".")[2])
    return list(rule(parts, page) if rule else software_feeds(page))


def _segments(parts: SplitResult) -> list[str]:
    return [segment for segment in parts.path.split("/") if segment]


def _youtube(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    feed = "https://www.youtube.com/feeds/videos.xml"
    segments = _segments(parts)
    for playlist in parse_qs(parts.query).get("list", []):
        yield SiteFeed(f"{feed}?playlist_id={quote(playlist)}", "Playlist")
    if segments[:1] == ["channel"] and len(segments) > 1:
        yield SiteFeed(f"{feed}?channel_id={quote(segments[1])}", page.title or "Channel")
    elif segments[:1] == ["user"] and len(segments) > 1:
        yield SiteFeed(f"{feed}?user={quote(segments[1])}", page.title or "Channel")
    elif segments[:1] != ["playlist"] and (channel := _channel_in(page)):
        yield SiteFeed(f"{feed}?channel_id={channel}", page.title or "Channel")


def _channel_in(page: WebPage) -> str | None:
    found = (pattern.search(page.html) for pattern in _CHANNEL_IN_PAGE)
    return next((match[1] for match in found if match), None)


def _github(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)
    if not segments or segments[0] in _GITHUB_PAGES:
        return
    if len(segments) == 1:
        yield SiteFeed(f"https://github.com/{segments[0]}.atom", f"Activity of {segments[0]}")
        return
    owner, repository, *section = segments
    name = f"{owner}/{repository}"
    branch = f"/{'/'.join(section[1:])}" if section[:1] in (["tree"], ["commits"]) else ""
    offered = {"releases": "", "commits": branch, "tags": ""}
    for kind in sorted(offered, key=lambda kind: kind not in section[:1]):
        yield SiteFeed(f"https://github.com/{name}/{kind}{offered[kind]}.atom", f"{name}: {kind}")


def _gitlab(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    path = parts.path.partition("/-/")[0].strip("/")
    if path.count("/") >= 1:
        project = f"{origin(page.url)}/{path}"
        yield SiteFeed(f"{project}/-/releases.atom", f"{path}: releases")
        yield SiteFeed(f"{project}/-/tags?format=atom", f"{path}: tags")
        yield SiteFeed(f"{project}.atom", f"{path}: activity")


def _forgejo(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)[:2]
    path = "/".join(segments)
    if len(segments) == 2:
        yield SiteFeed(f"{origin(page.url)}/{path}/releases.rss", f"{path}: releases")
        yield SiteFeed(f"{origin(page.url)}/{path}/tags.rss", f"{path}: tags")
    if segments:
        yield SiteFeed(f"{origin(page.url)}/{path}.rss", f"{path}: activity")


def _reddit(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)
    if segments[:1] == ["r"] and "comments" in segments:
        yield SiteFeed(f"https://www.reddit.com/r/{segments[1]}/.rss", f"r/{segments[1]}")
        yield SiteFeed(f"https://www.reddit.com/{'/'.join(segments)}/.rss", "Comments on this post")
    elif segments[:1] in (["r"], ["u"], ["user"], []):
        path = "".join(f"{segment}/" for segment in segments)
        yield SiteFeed(f"https://www.reddit.com/{path}.rss", path.rstrip("/") or "Reddit")


def _medium(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)
    host = host_of(page.url)
    if host.endswith(".medium.com") and not host.startswith("www."):
        yield SiteFeed(f"{origin(page.url)}/feed", page.title)
    elif segments[:1] == ["tag"] and len(segments) > 1:
        yield SiteFeed(f"https://medium.com/feed/tag/{segments[1]}", f"Tag {segments[1]}")
    elif segments:
        yield SiteFeed(f"https://medium.com/feed/{segments[0]}", page.title or segments[0])


def _tumblr(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)
    if host_of(page.url) in {"tumblr.com", "www.tumblr.com"}:
        if segments:
            yield SiteFeed(f"https://{segments[0]}.tumblr.com/rss", segments[0])
        return
    if segments[:1] == ["tagged"] and len(segments) > 1:
        yield SiteFeed(f"{origin(page.url)}/tagged/{segments[1]}/rss", f"{page.title} #{segments[1]}".strip())
    yield SiteFeed(f"{origin(page.url)}/rss", page.title)


def _substack(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)
    if host_of(page.url) not in {"substack.com", "www.substack.com"}:
        yield SiteFeed(f"{origin(page.url)}/feed", page.title)
    elif segments and segments[0].startswith("@"):
        yield SiteFeed(f"https://{segments[0][1:]}.substack.com/feed", segments[0])


def _stack_exchange(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    segments = _segments(parts)
    if segments[:2] == ["questions", "tagged"] and len(segments) > 2:
        yield SiteFeed(f"{origin(page.url)}/feeds/tag/{segments[2]}", f"Questions tagged {segments[2]}")
    elif segments[:1] in (["questions"], ["users"]) and len(segments) > 1 and segments[1].isdigit():
        yield SiteFeed(f"{origin(page.url)}/feeds/{segments[0][:-1]}/{segments[1]}", page.title)
    yield SiteFeed(f"{origin(page.url)}/feeds", "Newest questions")


def _podcast(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
    if found := _PODCAST_FEED.search(page.html):
        yield SiteFeed(found[1], page.title)


def _suffixed(suffix: str, depth: int) -> SiteRule:
    """The rule of a site whose feeds are at the page's path, cut to `depth` segments, plus a suffix."""

    def feeds(parts: SplitResult, page: WebPage) -> Iterator[SiteFeed]:
        segments = _segments(parts)[:depth]
        if len(segments) == depth:
            yield SiteFeed("/".join((origin(page.url), *segments)) + suffix, page.title)

    return feeds


_SITES: dict[str, SiteRule] = {
    "youtube.com": _youtube,
    "*.youtube.com": _youtube,
    "youtu.be": _youtube,
    "github.com": _github,
    "gitlab.com": _gitlab,
    "codeberg.org": _forgejo,
    "gitea.com": _forgejo,
    "reddit.com": _reddit,
    "*.reddit.com": _reddit,
    "medium.com": _medium,
    "*.medium.com": _medium,
    "tumblr.com": _tumblr,
    "*.tumblr.com": _tumblr,
    "substack.com": _substack,
    "*.substack.com": _substack,
    "stackoverflow.com": _stack_exchange,
    "*.stackexchange.com": _stack_exchange,
    "podcasts.apple.com": _podcast,
    "vimeo.com": _suffixed("/videos/rss", depth=1),
    "bsky.app": _suffixed("/rss", depth=2),
    "letterboxd.com": _suffixed("/rss/", depth=1),
    "news.ycombinator.com": _suffixed("/rss", depth=0),
}
