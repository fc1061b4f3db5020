"""What elements are called here: `title`, `dc:creator`, `media:thumbnail`, whatever prefix or address a feed uses."""

XML = "http://www.w3.org/XML/1998/namespace}"
XML_BASE = XML + "base"
XML_LANG = XML + "lang"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
RDF_ABOUT = RDF + "about"
RDF_RESOURCE = RDF + "resource"
XHTML = "http://www.w3.org/1999/xhtml"
ATOM_03 = "http://purl.org/atom/ns#"
RSS_10 = "http://purl.org/rss/1.0/"
RSS_090 = "http://my.netscape.com/rdf/simple/0.9/"

# Written as _plain() leaves them: lower case, http, without a closing slash or hash.
_PREFIXES = {
    "": "",
    "http://www.w3.org/2005/atom": "",
    "http://purl.org/atom/ns": "",
    "http://purl.org/rss/1.0": "",
    "http://purl.org/rss/1.0/modules/rss091": "",
    "http://my.netscape.com/rdf/simple/0.9": "",
    "http://channel.netscape.com/rdf/simple/0.9": "",
    "http://my.netscape.com/publish/formats/rss-0.91.dtd": "",
    "http://backend.userland.com/rss": "",
    "http://backend.userland.com/rss2": "",
    "http://backend.userland.com/rss091": "",
    "http://backend.userland.com/rss092": "",
    "http://blogs.law.harvard.edu/tech/rss": "",
    "http://cyber.law.harvard.edu/rss/rss.html": "",
    "http://example.com/newformat": "",
    "http://example.com/necho": "",
    "http://purl.org/echo": "",
    "uri/of/echo/namespace": "",
    "http://purl.org/pie": "",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns": "rdf:",
    "http://purl.org/rss/1.0/modules/content": "content:",
    "http://purl.org/dc/elements/1.1": "dc:",
    "http://purl.org/dc/elements/1.0": "dc:",
    "http://purl.org/dc/terms": "dcterms:",
    "http://search.yahoo.com/mrss": "media:",
    "http://tools.search.yahoo.com/mrss": "media:",
    "http://video.search.yahoo.com/mrss": "media:",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes:",
    "http://example.com/dtds/podcast-1.0.dtd": "itunes:",
    "http://www.google.com/schemas/play-podcasts/1.0": "googleplay:",
    "http://purl.org/rss/1.0/modules/syndication": "sy:",
    "http://purl.org/rss/1.0/modules/slash": "slash:",
    "http://wellformedweb.org/commentapi": "wfw:",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner:",
    "http://purl.org/rss/1.0/modules/image": "image:",
    "http://www.w3.org/1999/xhtml": "xhtml:",
    "http://podlove.org/simple-chapters": "psc:",
    "http://webns.net/mvcb": "admin:",
    "http://www.w3.org/2007/app": "app:",
    "http://purl.org/atom/app": "app:",
    "http://purl.org/syndication/thread/1.0": "thr:",
}

# For feeds that use a prefix and forget to declare it.
WELL_KNOWN = {
    "atom": "http://www.w3.org/2005/Atom",
    "atom10": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "media": "http://search.yahoo.com/mrss/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "googleplay": "http://www.google.com/schemas/play-podcasts/1.0",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "wfw": "http://wellformedweb.org/CommentAPI/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rss": "http://purl.org/rss/1.0/",
    "xhtml": XHTML,
    "xlink": "http://www.w3.org/1999/xlink",
    "svg": "http://www.w3.org/2000/svg",
}

ROOT_ELEMENTS = frozenset({"rss", "feed", "rdf", "channel"})
ENTRIES = frozenset({"item", "entry"})
# Elements whose children belong to the feed itself.
FRAMES = frozenset({"rss", "feed", "rdf:rdf", "rdf", "channel"})
# Elements that are read with their children; the rest is read as text, markup included.
CONTAINERS = frozenset({
    *ENTRIES, "author", "contributor", "source", "image", "textinput", "media:group", "media:content",
    "itunes:owner", "skiphours", "skipdays",
})  # fmt: skip
LEAVES = frozenset({
    "title", "link", "description", "subtitle", "tagline", "info", "language", "icon", "logo", "url", "ttl",
    "pubdate", "lastbuilddate", "updated", "modified", "published", "issued", "created", "managingeditor",
    "webmaster", "guid", "id", "content", "summary", "category", "keywords", "enclosure", "comments", "hour",
    "day", "name", "email", "uri", "homepage", "fullitem", "body", "origlink", "copyright",
    "content:encoded", "dc:title", "dc:creator", "dc:author", "dc:contributor", "dc:publisher", "dc:description",
    "dc:date", "dc:language", "dc:subject", "dc:identifier", "dcterms:created", "dcterms:issued",
    "dcterms:modified", "dcterms:available", "dcterms:abstract", "dcterms:subject", "media:title",
    "media:description", "media:thumbnail", "media:category", "media:keywords", "media:credit", "itunes:author",
    "itunes:name", "itunes:email", "itunes:image", "itunes:summary", "itunes:subtitle", "itunes:duration",
    "itunes:category", "itunes:keywords", "itunes:title", "googleplay:image", "googleplay:author",
    "googleplay:description", "sy:updateperiod", "sy:updatefrequency", "wfw:comments", "xhtml:body", "xhtml:div",
    "feedburner:origlink", "rdf:value", "foaf:name",
})  # fmt: skip
# Met inside a text, these show that the text was never closed. (Names that HTML or SVG have too can't show that.)
NEVER_IN_TEXT = frozenset({
    "item", "guid", "pubdate", "description", "content:encoded", "dc:date", "dc:creator", "comments", "enclosure",
    "category", "lastbuilddate",
})  # fmt: skip
_READ = FRAMES | CONTAINERS | LEAVES


class Names(dict[str, str]):
    """Looks up an element as the XML parser names it (`address}local`) and answers with our name for it.

    An element that nobody here reads is the empty string.
    """

    __slots__ = ("_core",)

    def __init__(self, root_namespace: str = "") -> None:
        self._core = _plain(root_namespace)

    def __missing__(self, name: str) -> str:
        namespace, _, local = name.rpartition("}")
        key = self[name] = self._key(_plain(namespace), local.lower())
        return key

    def _key(self, namespace: str, local: str) -> str:
        prefix = "" if namespace == self._core else _PREFIXES.get(namespace)
        if prefix is None or prefix + local not in _READ:
            return ""
        return prefix + local


def feed_root(name: str) -> Names | None:
    """The names of a document whose element `name` opens a feed, or None if that is no feed's element."""
    namespace, _, local = name.rpartition("}")
    if local.lower() not in ROOT_ELEMENTS:
        return None
    return Names(namespace if _plain(namespace) not in _PREFIXES else "")


def _plain(namespace: str) -> str:
    return namespace.strip().lower().replace("https://", "http://", 1).rstrip("/#")
