"""Finds where a link of a feed proxy, a search engine or a click counter leads, if its URL says so itself.

Nothing is fetched: the links of `feeds.feedburner.com/~r/…` and of URL shorteners lead nowhere here.
"""

import re
from functools import lru_cache
from urllib.parse import unquote, unquote_plus, urlsplit

from feedmill.absolute_urls import absolute_url
from feedmill.html.tracking_parameters import parameter_name
from feedmill.model.hosts import host_of

# fmt: off
# The path of pages that redirect, and the parameters that have the target. An empty path stands for all.
_REDIRECT_PAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "bing.com": ("/news/apiclick.aspx", ("url",)),
    "douban.com": ("/link2", ("url",)),
    "duckduckgo.com": ("/l", ("uddg",)),
    "exit.sc": ("", ("url",)),
    "facebook.com": ("/l.php", ("u",)),
    "getpocket.com": ("/redirect", ("url",)),
    "gitee.com": ("/link", ("target",)),
    "go.redirectingat.com": ("", ("url",)),
    "go.skimresources.com": ("", ("url",)),
    "l.facebook.com": ("/l.php", ("u",)),
    "l.instagram.com": ("", ("u",)),
    "l.messenger.com": ("/l.php", ("u",)),
    "link.csdn.net": ("", ("target",)),
    "link.juejin.cn": ("", ("target",)),
    "link.zhihu.com": ("", ("target",)),
    "linkedin.com": ("/safety/go", ("url",)),
    "links.jianshu.com": ("/go", ("to",)),
    "lm.facebook.com": ("/l.php", ("u",)),
    "medium.com": ("/r", ("url",)),
    "out.reddit.com": ("", ("url",)),
    "slack-redir.net": ("/link", ("url",)),
    "sspai.com": ("/link", ("target",)),
    "steamcommunity.com": ("/linkfilter", ("url", "u")),
    "t.umblr.com": ("/redirect", ("z",)),
    "vk.com": ("/away.php", ("to",)),
    "weibo.cn": ("/sinaurl", ("u", "toasturl")),
    "youtube.com": ("/redirect", ("q",)),
}
# Pages of other hosts that redirect: by the first part of the host, or by the last part of the path.
_REDIRECTING_HOSTS = frozenset({
    "away", "click", "feedproxy", "feeds", "go", "link", "links", "out", "redir", "redirect", "rss", "track",
})
_REDIRECTING_PATHS = frozenset({
    "away", "click", "go", "jump", "leave", "out", "redir", "redirect", "redirect.php", "track",
})
# fmt: on
_TARGET_PARAMETERS = ("url", "u", "target", "to", "dest", "destination", "redirect", "redirect_url", "link")
_GOOGLE = re.compile(r"(?:www\.|news\.|m\.)?google\.(?:[a-z]{2,3}|com?\.[a-z]{2})")
_GOOGLE_PATHS = frozenset({"/url", "/news/url"})
# Pages of AMP caches: the path has the host and the path of the page; `/s/` stands for https.
_AMP_PATH = re.compile(r"/(?:amp|c|v|wp)/(s/)?(?P<page>[a-z0-9-]+\.[^?]*)", re.I | re.S)
# FeedBlitz: `/~/t/0/0/name/~https://example.org/page`.
_FEEDBLITZ_PATH = re.compile(r"/~/[^~]*/~(https?://.+)", re.I | re.S)


def redirect_target(url: str) -> str | None:
    """The URL to which a link redirects; None if it does not, or does not say where to."""
    host = host_of(url).removeprefix("www.")
    if "?" not in url and not _may_have_target_in_path(host):
        return None
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if target := _target_in_path(host, parts.path, parts.query):
        return absolute_url(target)
    names = _parameters_with_target(host, parts.path.rstrip("/"))
    written = _first_value(parts.query, names) if names and parts.query else None
    # Only a complete URL: a relative one leads to another page of the same site.
    is_complete = written is not None and written.lower().startswith(("https://", "http://"))
    return absolute_url(written) if written and is_complete else None


@lru_cache(maxsize=1024)
def _may_have_target_in_path(host: str) -> bool:
    return host.endswith((".cdn.ampproject.org", "feedblitz.com")) or _GOOGLE.fullmatch(host) is not None


def _target_in_path(host: str, path: str, query: str) -> str | None:
    rest = f"?{query}" if query else ""
    if host.endswith(".cdn.ampproject.org") or (_GOOGLE.fullmatch(host) and path.startswith("/amp/")):
        found = _AMP_PATH.fullmatch(path)
        return f"http{'s' if found[1] else ''}://{found['page']}{rest}" if found else None
    if host.endswith("feedblitz.com"):
        found = _FEEDBLITZ_PATH.fullmatch(path)
        return found[1] + rest if found else None
    # `https://href.li/?https://example.org/page`
    return unquote(query) if host == "href.li" else None


def _parameters_with_target(host: str, path: str) -> tuple[str, ...]:
    if _GOOGLE.fullmatch(host):
        return ("q", "url") if path in _GOOGLE_PATHS else ()
    if host in _REDIRECT_PAGES:
        wanted, names = _REDIRECT_PAGES[host]
        return names if wanted in ("", path) else ()
    if host.endswith(".safelinks.protection.outlook.com"):
        return ("url",)
    is_redirecting = host.partition(".")[0] in _REDIRECTING_HOSTS or path.rpartition("/")[2] in _REDIRECTING_PATHS
    return _TARGET_PARAMETERS if is_redirecting else ()


def _first_value(query: str, names: tuple[str, ...]) -> str | None:
    values = {parameter_name(pair): pair.partition("=")[2] for pair in reversed(query.split("&"))}
    return next((unquote_plus(values[name]) for name in names if values.get(name)), None)
