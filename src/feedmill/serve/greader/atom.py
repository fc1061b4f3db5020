"""`/reader/atom/…`: a stream as Atom, as older versions of newsboat read it."""

import re
from dataclasses import replace
from xml.etree.ElementTree import Element, SubElement, tostring

from starlette.requests import Request
from starlette.responses import Response

from feedmill.app import App
from feedmill.library.entries.sync_entries import RenderedEntry, rendered_entries, sync_ids
from feedmill.model.timestamps import to_iso
from feedmill.model.user import Caller
from feedmill.serve.greader.item_ids import long_id
from feedmill.serve.greader.responses import NO_CACHE
from feedmill.serve.greader.streams import normal_stream, stream_query, streams_of
from feedmill.serve.http.app_images import image_urls_for
from feedmill.serve.http.app_parameters import AppParameters

NAMESPACE = "http://www.w3.org/2005/Atom"
SCHEME = "http://www.google.com/reader/"
USUAL, MOST = 20, 1000
# Characters that no XML document may have.
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


async def read_atom(request: Request, who: Caller, sent: AppParameters) -> Response:
    app: App = request.app.state.app
    assert who.app_password is not None
    stream = normal_stream(request.path_params["stream"])
    query = stream_query(await streams_of(app, who.user.id), stream, sent.all("xt"), sent.all("it"))
    query = replace(query, most=min(sent.number("n", USUAL) or USUAL, MOST))
    ids = await sync_ids(app.db, who.user.id, query)
    found = await rendered_entries(app.db, who.user.id, ids, image_urls_for(request, who.app_password.id))
    body = _document(stream, found, to_iso(app.tools.clock()))
    return Response(body, media_type="application/atom+xml; charset=utf-8", headers=NO_CACHE)


def _document(stream: str, entries: list[RenderedEntry], updated: str) -> bytes:
    root = Element("feed", xmlns=NAMESPACE)
    _text(root, "id", stream)
    _text(root, "title", stream)
    _text(root, "updated", updated)
    for entry in entries:
        _entry(root, entry)
    written: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _entry(root: Element, entry: RenderedEntry) -> None:
    element = SubElement(root, "entry")
    _text(element, "id", long_id(entry.id))
    _text(element, "title", entry.title)
    _text(element, "published", to_iso(entry.published_at))
    _text(element, "updated", to_iso(entry.published_at))
    _text(SubElement(element, "author"), "name", entry.author or entry.feed_title)
    SubElement(element, "link", rel="alternate", type="text/html", href=entry.link)
    for each in entry.enclosures:
        SubElement(element, "link", rel="enclosure", type=each.type or "", href=each.url)
    SubElement(element, "category", scheme=SCHEME, label="fresh" if entry.is_unread else "read")
    if entry.starred_at:
        SubElement(element, "category", scheme=SCHEME, label="starred")
    _text(element, "content", entry.html).set("type", "html")


def _text(parent: Element, name: str, text: str) -> Element:
    element = SubElement(parent, name)
    element.text = _NOT_XML.sub("", text)
    return element
