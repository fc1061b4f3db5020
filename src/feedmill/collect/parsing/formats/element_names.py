"""Maps namespaced XML element names to short names such as `title` and `dc:creator`."""

from functools import lru_cache

XML_BASE = "http://www.w3.org/XML/1998/namespace}base"
XML_LANG = "http://www.w3.org/XML/1998/namespace}lang"
RDF_ABOUT = "http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
RDF_RESOURCE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"
XHTML = "http://www.w3.org/1999/xhtml"
ATOM_03 = "http://purl.org/atom/ns#"
RSS_090 = "http://my.netscape.com/rdf/simple/0.9/"

# Written as _normalized() leaves them: lower case, http, without a closing slash or hash.
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
    "http://www.rssboard.org/media-rss": "media:",
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
    "http://podcastindex.org/namespace/1.0": "podcast:",
    "http://github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": "podcast:",
    "http://webfeeds.org/rss/1.0": "webfeeds:",
    "http://purl.org/net/rss1.1": "",
}
# Elements of other vocabularies that mean the same.
_ALIASES = {
    "dcterms:title": "dc:title",
    "dcterms:creator": "dc:creator",
    "dcterms:description": "dc:description",
    "dcterms:date": "dc:date",
    "dcterms:language": "dc:language",
    "dcterms:identifier": "dc:identifier",
    "dcterms:subject": "dc:subject",
}

# For feeds that use a prefix and forget to declare it.
WELL_KNOWN_PREFIXES = {
    "atom": "http://www.w3.org/2005/Atom",
    "atom10": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "media": "http://search.yahoo.com/mrss/",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "googleplay": "http://www.google.com/schemas/play-podcasts/1.0",
    "podcast": "https://podcastindex.org/namespace/1.0",
    "webfeeds": "http://webfeeds.org/rss/1.0",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "psc": "http://podlove.org/simple-chapters",
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
_LONE_ENTRIES = frozenset({"http://www.w3.org/2005/Atom}entry", "http://purl.org/atom/ns#}entry"})
# Elements whose children belong to the feed itself.
FRAMES = frozenset({"rss", "feed", "rdf:rdf", "rdf", "channel", "items"})
# Elements that are read with their children; the rest is read as text, markup included.
CONTAINERS = frozenset(
    {
        *ENTRIES,
        "author",
        "contributor",
        "source",
        "categories",
        "image",
        "textinput",
        "media:group",
        "media:content",
        "itunes:owner",
        "itunes:category",
        "psc:chapters",
        "skiphours",
        "skipdays",
    }
)
LEAVES = frozenset(
    {
        "title",
        "link",
        "description",
        "subtitle",
        "tagline",
        "info",
        "language",
        "icon",
        "logo",
        "url",
        "ttl",
        "pubdate",
        "lastbuilddate",
        "updated",
        "modified",
        "published",
        "issued",
        "created",
        "managingeditor",
        "webmaster",
        "guid",
        "id",
        "content",
        "summary",
        "category",
        "keywords",
        "enclosure",
        "comments",
        "hour",
        "day",
        "name",
        "email",
        "uri",
        "homepage",
        "fullitem",
        "body",
        "origlink",
        "copyright",
        "content:encoded",
        "dc:title",
        "dc:creator",
        "dc:author",
        "dc:contributor",
        "dc:publisher",
        "dc:description",
        "dc:date",
        "dc:language",
        "dc:subject",
        "dc:identifier",
        "dcterms:created",
        "dcterms:issued",
        "dcterms:modified",
        "dcterms:available",
        "dcterms:abstract",
        "media:title",
        "media:description",
        "media:thumbnail",
        "media:category",
        "media:keywords",
        "media:credit",
        "itunes:author",
        "itunes:name",
        "itunes:email",
        "itunes:image",
        "itunes:summary",
        "itunes:subtitle",
        "itunes:duration",
        "itunes:link",
        "itunes:keywords",
        "itunes:title",
        "psc:chapter",
        "podcast:guid",
        "podcast:image",
        "podcast:images",
        "webfeeds:cover",
        "webfeeds:icon",
        "webfeeds:logo",
        "googleplay:image",
        "googleplay:author",
        "googleplay:description",
        "sy:updateperiod",
        "sy:updatefrequency",
        "wfw:comments",
        "xhtml:body",
        "xhtml:div",
        "feedburner:origlink",
        "rdf:value",
        "foaf:name",
    }
)
PEOPLE = frozenset({"dc:creator", "dc:author", "itunes:author", "googleplay:author", "managingeditor", "webmaster"})
# Inside of a text these show that the text was not closed. Names that HTML or SVG have too are left out.
NEVER_IN_TEXT = frozenset(
    {
        "item",
        "guid",
        "pubdate",
        "description",
        "content:encoded",
        "dc:date",
        "dc:creator",
        "comments",
        "enclosure",
        "category",
        "lastbuilddate",
    }
)
_READ = FRAMES | CONTAINERS | LEAVES
# The name of each element includes its namespace: a long one would multiply the size of a document.
LONGEST_NAMESPACE = 200
_MAX_KNOWN = 2_000
_LONGEST_KNOWN = 200


class ElementNames(dict[str, str]):
    """Short names by the name of an element in the tree (`namespace}local`); "" for elements that are not read.

    The namespace of the root is taken for one of a feed format, even if it is unknown.
    """

    __slots__ = ("_root_namespace", "is_atom_03")

    def __init__(self, root_namespace: str) -> None:
        self._root_namespace = root_namespace
        self.is_atom_03 = root_namespace == ATOM_03

    def __missing__(self, element: str) -> str:
        name = self._name_of(element)
        if len(self) < _MAX_KNOWN and len(element) <= _LONGEST_KNOWN:
            self[element] = name
        return name

    def _name_of(self, element: str) -> str:
        namespace, local = split_name(element)
        prefix = _PREFIXES.get(_normalized(namespace), "" if namespace == self._root_namespace else None)
        if prefix is None:
            return ""
        name = prefix + local.lower()
        name = _ALIASES.get(name, name)
        return name if name in _READ else ""


def opens_feed(element: str) -> bool:
    """Whether an element of this name can be the root of a feed. In Atom a single entry can be a document."""
    return split_name(element)[1].lower() in ROOT_ELEMENTS or element in _LONE_ENTRIES


@lru_cache(maxsize=256)
def is_feed_namespace(namespace: str) -> bool:
    """Whether a namespace is that of a feed format, not of an extension."""
    return _PREFIXES.get(_normalized(namespace)) == ""


def split_name(element: str) -> tuple[str, str]:
    """The namespace and the local name of an element or attribute."""
    namespace, _, local = element.rpartition("}")
    return namespace, local


def _normalized(namespace: str) -> str:
    return namespace.strip().lower().replace("https://", "http://", 1).rstrip("/#")
