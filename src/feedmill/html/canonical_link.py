"""One form of a link for comparison: links that lead to the same article in different ways become equal.

It is never shown or fetched, so it may leave out what a site perhaps needs: `http`, `www.`, the mark of the mobile
or AMP form.
"""

import re
from dataclasses import replace
from functools import lru_cache
from urllib.parse import quote, unquote, urlsplit

from feedmill.absolute_urls import absolute_url
from feedmill.html.players import find_player
from feedmill.html.redirect_targets import redirect_target
from feedmill.html.tracking_parameters import parameter_name, remove_trackers
from feedmill.model.hosts import MAX_HOST_LENGTH

MAX_REDIRECTS = 10
_DEFAULT_PORTS = frozenset({None, 80, 443})
_SAME_SITES = {"old.reddit.com": "reddit.com", "np.reddit.com": "reddit.com", "x.com": "twitter.com"}
# Forms of a site for other devices; `en.m.wikipedia.org` has its mark in the middle.
_HOST_PREFIXES = ("www.", "m.", "mobile.", "amp.")
_WIKIMEDIA = re.compile(r"([a-z-]{2,20})\.m\.((?:wikipedia|wiktionary|wikinews|wikisource|wikivoyage)\.org)")
_PATH_ENDINGS = ("/", "/amp", ".amp", "/index.html", "/index.htm")
# Nothing in it can be escaped in two ways.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/_.~-]*+")
_SESSION_IN_PATH = re.compile(r";jsessionid=[^/;]*", re.I)
_SESSIONS = frozenset({"jsessionid", "phpsessid"})
_AMP_PAIRS = frozenset({"amp", "amp=", "amp=1", "amp=true", "outputtype=amp"})
# Parameters that say where a reader came from, if their value is the name of a site or one of these words.
_ORIGIN_PARAMETERS = frozenset({"from", "medium", "ref", "referer", "referrer", "source", "src", "via"})
# fmt: off
_ORIGINS = frozenset({
    "atom", "email", "facebook", "feed", "feeds", "hackernews", "hn", "home", "homepage", "newsletter", "producthunt",
    "reddit", "rss", "share", "twitter",
})
# fmt: on
_DOMAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,20}", re.I)
# Places of a page where the article itself is. All other fragments count: comments and releases have their own.
_FRAGMENTS_OF_ARTICLES = re.compile(
    r"(?:article|atom|comments|content|echobox=.*|main|more-\d+|ref=.*|respond|rss|top|utm_.*|xtor=.*|:~:.*)?",
    re.I | re.S,
)
# What `quote` leaves alone besides letters and digits; the others stay percent-encoded.
_SAFE_IN_PATH, _SAFE_IN_QUERY = "/!$&'()*+,;=:@~%", "/!$'()*,;=:@~%?"
_ESCAPED = re.compile(r"(?:%[0-9a-f]{2})+", re.I)


def canonical_link(url: str) -> str:
    """The link in the form in which links are compared. What is no web address stays as it is, without white space."""
    link = _unwrapped(absolute_url(url))
    if link is None:
        return url.strip()
    try:
        parts = urlsplit(link)
        host, port = _canonical_authority(parts.netloc)
    except ValueError:
        return link
    query = _canonical_query(parts.query, host) if parts.query else ""
    fragment = "" if _FRAGMENTS_OF_ARTICLES.fullmatch(parts.fragment) else f"#{parts.fragment}"
    return f"https://{host}{port}{_canonical_path(parts.path)}{query}{fragment}"


@lru_cache(maxsize=1024)
def _canonical_authority(authority: str) -> tuple[str, str]:
    """The host, and the port with its colon if it is not the default one. Cached: a feed has links to few hosts."""
    parts = urlsplit(f"//{authority}")
    port = "" if parts.port in _DEFAULT_PORTS else f":{parts.port}"
    return _canonical_host(parts.hostname or ""), port


def _unwrapped(link: str | None) -> str | None:
    """The link without redirects whose target it has; the page of a video for its other addresses."""
    for _ in range(MAX_REDIRECTS):
        target = redirect_target(link) if link else None
        if target is None:
            break
        link = target
    player = find_player(link) if link else None
    return replace(player, start=0).page_url if player else link


def _canonical_host(host: str) -> str:
    host = host.rstrip(".")
    if ":" in host or len(host) > MAX_HOST_LENGTH:
        return f"[{host}]" if ":" in host else host
    if not host.isascii():
        host = _ascii_host(host)
    while host.startswith(_HOST_PREFIXES) and "." in (rest := host.partition(".")[2]):
        host = rest
    if wikimedia := _WIKIMEDIA.fullmatch(host):
        host = f"{wikimedia[1]}.{wikimedia[2]}"
    return _SAME_SITES.get(host, host)


def _ascii_host(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return host


def _canonical_path(path: str) -> str:
    if not _PLAIN_PATH.fullmatch(path):
        path = _plain_escapes(_SESSION_IN_PATH.sub("", path), _SAFE_IN_PATH)
    if not path.endswith(_PATH_ENDINGS):
        return path
    end = len(path)
    while ending := next((each for each in _PATH_ENDINGS if path.endswith(each, 0, end)), ""):
        end -= len(ending)
    return path[:end]


def _canonical_query(query: str, host: str) -> str:
    kept = [pair for pair in remove_trackers(query, host).split("&") if pair and not _is_left_out(pair)]
    pairs = sorted(_plain_escapes(pair.removeprefix("amp;").replace("+", "%20"), _SAFE_IN_QUERY) for pair in kept)
    return f"?{'&'.join(pairs)}" if pairs else ""


def _is_left_out(pair: str) -> bool:
    if parameter_name(pair) in _SESSIONS or pair.lower() in _AMP_PAIRS:
        return True
    value = unquote(pair.partition("=")[2])
    return parameter_name(pair) in _ORIGIN_PARAMETERS and (
        value.lower() in _ORIGINS or _DOMAIN.fullmatch(value) is not None
    )


def _plain_escapes(text: str, safe: str) -> str:
    """The text with each character escaped or not by one rule, whoever wrote it."""
    return quote(_ESCAPED.sub(_plain_escape, text), safe)


def _plain_escape(escaped: re.Match[str]) -> str:
    try:
        decoded = unquote(escaped[0], errors="strict")
    except UnicodeDecodeError:
        return escaped[0].upper()
    return "".join([each if each.isalnum() else quote(each, "") for each in decoded])
