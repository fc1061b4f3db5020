"""Every function that reads untrusted text, as a call with one text.

A key is the function's name below `feedmill`; after a colon it names the part of the input that has the text. Functions
whose text is trusted, or always short, are listed in `NOT_HOSTILE`.
"""

import asyncio
import atexit
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

import lxml.html
from starlette.formparsers import MultiPartException
from starlette.requests import Request

from feedmill import absolute_urls
from feedmill.archive import object_keys, object_paths
from feedmill.archive.images import file_types
from feedmill.collect import feed_moves, hub_links
from feedmill.collect.declared import read_data_file
from feedmill.collect.declared.feeds_file import read_declarations
from feedmill.collect.discovery import page_feeds, site_patterns, site_software
from feedmill.collect.entries import changes as reconcile
from feedmill.collect.entries import storable_text
from feedmill.collect.parsing import (
    balance_tags,
    declared_entities,
    decode,
    parse_feed,
    repair,
    sniff_content,
    truncation,
    xml_tree,
)
from feedmill.collect.parsing.formats import (
    calendar_day,
    dates,
    element_names,
    extensions,
    field_texts,
    jsonfeed,
    loose_dates,
    time_zones,
    xml_scope,
)
from feedmill.collect.stories import article_links, sign_entry, sketch
from feedmill.errors import FeedmillError
from feedmill.html import (
    attached_media,
    base_url,
    canonical_link,
    drawings,
    embedded_frames,
    formulas,
    frame_cards,
    hide_remote_images,
    markdown,
    plain_text,
    players,
    readability,
    redirect_targets,
    rewrite_tags,
    sanitize,
    scroll_containers,
    selectors,
    srcset,
    tags,
    tracking_parameters,
    web_page,
)
from feedmill.html import images as html
from feedmill.i18n import choose_language, connection_errors, messages, natural_order
from feedmill.i18n import dates as moments
from feedmill.i18n.translator import translator
from feedmill.identity_providers import IdentityProvider
from feedmill.library import cursors
from feedmill.library.admin import blocked_hosts
from feedmill.library.archive import line_diff, raw_bodies, video_details
from feedmill.library.bookmarks import fetch_pages
from feedmill.library.entries import article, full_text, list_entries, sync_cursor, text_diff
from feedmill.library.filters import rules
from feedmill.library.hubs import callbacks
from feedmill.library.notifications import target_urls
from feedmill.library.output_feeds.read_page import OutputEntry, SourceFeed
from feedmill.library.search import query_dates, query_hints, query_names, query_parser, query_tokens, snippets
from feedmill.library.services import service_options, template_request
from feedmill.library.services.saved_article import SavedArticle
from feedmill.library.subscriptions import folders, http_options, opml
from feedmill.library.users import manage_users, own_css, pending_sign_in, recovery_codes, second_factor
from feedmill.library.users.oidc import claims as oidc_claims
from feedmill.logs import redact_event
from feedmill.model import control_characters, fetch_outcome, hosts
from feedmill.model.feed_settings import FeedSettings
from feedmill.model.parsed_feed import Enclosure, ParsedEntry
from feedmill.model.pool import PoolKind, PoolRule
from feedmill.model.services.save_service import ServiceKind, ServiceOptions
from feedmill.model.syndication import output_feed
from feedmill.outbound import (
    apprise_schemes,
    content_encoding,
    encrypted_options,
    http_response,
    push_encryption,
    request_headers,
    response_headers,
    urls,
    user_urls,
)
from feedmill.outbound.errors import RefusedError
from feedmill.pools import program_texts
from feedmill.pools import rules as pool_rules
from feedmill.serve.greader import item_ids, streams
from feedmill.serve.http import app_parameters, archived_images, cache_headers, jwt_tokens, path_aliases, sse
from feedmill.serve.mcp import redact_urls, untrusted_text
from feedmill.serve.output_feeds import atom
from feedmill.serve.output_feeds.document import OutputDocument
from feedmill.serve.web.core import flash, jinja_environment, keymap, read_form
from feedmill.serve.web.core import redirects as page_redirects
from feedmill.serve.web.entries import list_filter, list_views
from feedmill.serve.web.feeds import subscription_fields
from feedmill.serve.web.filters import title_words
from feedmill.serve.web.search import search_view
from feedmill.serve.web.subscriptions import discovery_view, subscribe_problems
from feedmill.serve.web.users import sessions as session_pages
from feedmill.setting_fields import SecretStr
from feedmill.store.pools import source_tables
from feedmill.store.search import index, tokenizer

Read = Callable[[str], object]

NOW = datetime(2026, 1, 1, tzinfo=UTC)
URL = "https://example.org/feed"
# The longest header that our client accepts.
HEADER = 8192
REFUSALS = (
    FeedmillError,
    RefusedError,
    ValueError,
    MultiPartException,
    content_encoding.UnknownEncoding,
    line_diff.TooDifferent,
)

_WORDS = translator("en")
_RULES = rules.parse_rules("a word\nin:title:other", '"a phrase" OR begin*')
_POOL_RULE = PoolRule(words=("word", "字"), without=("other",), min_length=10)
_SOUGHT = query_hints.words_to_highlight('word "a phrase" begin* 字')
_NAMES = query_names.UserNames()
PROVIDER = IdentityProvider(id="home", issuer="https://auth.example.org", client_id="a", client_secret=SecretStr(""))
_ALL = frozenset({"img", "image", "amp-img", "source", "video"})
_LOOP = asyncio.new_event_loop()
# Of this process alone: several measure at once.
_FOLDER = TemporaryDirectory(prefix="feedmill-growth-")
atexit.register(_FOLDER.cleanup)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _response(text: str, content_type: str = "text/html") -> fetch_outcome.Response:
    return fetch_outcome.Response(
        URL,
        URL,
        200,
        {},
        _bytes(text),
        content_type,
        fetch_outcome.Validators(None, None),
        fetch_outcome.Freshness(None, None),
        None,
        True,
        0,
        NOW,
        timedelta(),
    )


def _answer(name: bytes, text: str) -> http_response.HttpResponse:
    return http_response.HttpResponse(200, [(name, _bytes(text))])


def _request(headers: dict[str, str] | None = None, query: str = "", body: bytes = b"") -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    raw = [(name.encode(), _bytes(value)) for name, value in (headers or {}).items()]
    xml_scope = {"type": "http", "method": "POST", "path": "/", "query_string": _bytes(query), "headers": raw}
    return Request(xml_scope, receive)


def _form(body: bytes, content_type: str) -> object:
    request = _request({"content-type": content_type, "origin": "http://testserver"}, body=body)
    return _LOOP.run_until_complete(request.form(max_fields=read_form.MAX_FIELDS))


def _parse(text: str, content_type: str = "application/xml") -> object:
    return parse_feed.parse_feed(_bytes(text), content_type=content_type, url=URL)


def _in_rss(text: str) -> str:
    return f"<rss version='2.0'><channel><title>t</title><item><title>{text}</title></item></channel></rss>"


def _json_item(**fields: str) -> str:
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "t", "items": [{"id": "1"} | fields]})


def _reconciled(text: str) -> object:
    entry = ParsedEntry(guid=text, link=text, title=text, content_html=text, summary=text, categories=(text,))
    changes = reconcile.compare_entries({"1": entry}, {}, (), NOW, site_url=URL, with_images=True)
    return [index.tokenize_entry(new) for new in changes.new]


def _page(text: str) -> web_page.WebPage:
    return web_page.WebPage(f"https://mastodon.example/@{text[:2000]}", text, text, (), {"generator": text})


def _file(text: str, suffix: str) -> Path:
    path = Path(_FOLDER.name) / f"growth.{suffix}"
    path.write_bytes(_bytes(text))
    return path


def _judged(text: str) -> object:
    entry = SimpleNamespace(link=text, title=text, author=text, summary=None, content_html=text)
    return rules.judge_entry(_RULES, entry)  # type: ignore[arg-type]


def _candidate(text: str) -> pool_rules.PoolCandidate:
    return pool_rules.PoolCandidate(1, 1, (text,), NOW, text, text, text)


def _output_document(text: str) -> OutputDocument:
    source = SourceFeed(text, text, text)
    file = Enclosure(text, text, None)
    entry = OutputEntry(text, text, text, text, text, text, text, text, NOW, NOW, (text,), (file,), source)
    address = SimpleNamespace(url=URL)
    return OutputDocument(address, text, text, URL, NOW, [entry], URL, None, "")  # type: ignore[arg-type]


def _versions(text: str) -> tuple[str, str]:
    return text, text[: len(text) // 2] + " changed " + text[len(text) // 2 :]


def _elements(selector: str, text: str) -> object:
    chosen = selectors.parse_selector(selector)
    assert chosen is not None
    return chosen.outermost(lxml.html.document_fromstring(f"<body>{text}</body>"))


READERS: dict[str, Read] = {
    # Identity providers
    "library.users.oidc.claims.account_name": lambda text: oidc_claims.account_name(
        PROVIDER, {"sub": "s", "preferred_username": text}
    ),
    "library.users.oidc.claims.claim_values": lambda text: oidc_claims.claim_values({text: "a"}, text),
    # HTML
    "html.tags.tags": lambda text: list(tags.tags(text)),
    "html.tags.tags: as XML": lambda text: list(tags.tags(text, tags.XML)),
    "html.tags.tags: in a tag": lambda text: list(tags.tags(f"<a {text}>")),
    "html.tags.tags: in a script": lambda text: list(tags.tags(f"<script>{text}")),
    "html.tags.find_tags": lambda text: list(tags.find_tags(text, _ALL)),
    "html.tags.find_tags: in a tag": lambda text: list(tags.find_tags(f"<p {text}>", _ALL)),
    "html.tags.attributes": lambda text: tags.attributes(f"<a {text}>", tags.Tag("a", 0, len(text) + 4, 2)),
    "html.tags.decode_attribute": tags.decode_attribute,
    "html.tags.decode_text": tags.decode_text,
    "html.srcset.parse_srcset": srcset.parse_srcset,
    "html.markdown.html_to_markdown": lambda text: markdown.html_to_markdown(text, len(text) * 10),
    "html.markdown.html_to_markdown: excerpt": lambda text: markdown.html_to_markdown(text, 300),
    "html.plain_text.plain_text": lambda text: plain_text.plain_text(text, None),
    "html.plain_text.plain_text: excerpt": lambda text: plain_text.plain_text(text, 300),
    "html.plain_text.cut_text": lambda text: plain_text.cut_text(text, 300),
    "html.images.find_image_urls": lambda text: html.find_image_urls(f"<img src=a>{text}", URL),
    "html.images.find_image_urls: in srcset": lambda text: html.find_image_urls(f"<img srcset='{text}'>", URL),
    "html.images.replace_images": lambda text: html.replace_images(f"<img src=a>{text}", URL, {}),
    "html.images.replace_images: in a tag": lambda text: html.replace_images(f"<img {text} src=a>", URL, {}),
    "html.base_url.find_base_url": lambda text: base_url.find_base_url(f"{text}<base href=/a>", URL),
    "html.base_url.find_base_url: in the address": lambda text: base_url.find_base_url(f"<base href='{text}'>", URL),
    "html.sanitize.sanitize_html": lambda text: sanitize.sanitize_html(text, URL),
    "html.sanitize.sanitize_html: in an element": lambda text: sanitize.sanitize_html(f"<table><tr><td><p>{text}", URL),
    "html.sanitize.sanitize_html: in a tag": lambda text: sanitize.sanitize_html(f"<img {text} src=a>", URL),
    "html.sanitize.sanitize_html: in srcset": lambda text: sanitize.sanitize_html(f'<img srcset="{text}">', URL),
    "html.sanitize.sanitize_html: in an address": lambda text: sanitize.sanitize_html(f'<a href="{text}">x</a>', URL),
    "html.sanitize.sanitize_html: in an inline image": lambda text: sanitize.sanitize_html(
        f'<img src="data:image/png;base64,{text}">', URL
    ),
    "html.sanitize.render_article_html": lambda text: sanitize.render_article_html(
        text, URL, {"https://example.org/a": "/images/1"}
    ),
    "html.rewrite_tags.rewrite_tags": lambda text: rewrite_tags.rewrite_tags(text, lambda _, found: found),
    "html.rewrite_tags.rewrite_tags: in a paragraph": lambda text: rewrite_tags.rewrite_tags(
        f"<p>{text}", lambda _, found: found
    ),
    "html.sanitize.sanitize_html: in a formula": lambda text: sanitize.sanitize_html(f"<math><mrow>{text}", URL),
    "html.sanitize.sanitize_html: in a fence": lambda text: sanitize.sanitize_html(
        f"<math><mfenced separators='{text}'><mi>{text}", URL
    ),
    "html.sanitize.sanitize_html: in a drawing": lambda text: sanitize.sanitize_html(f"<svg><g>{text}", URL),
    "html.attached_media.add_attached_media": lambda text: attached_media.add_attached_media(
        text, text, text, [attached_media.MediaFile(f"{URL}/{text}.png", text), attached_media.MediaFile(text)], {}, ""
    ),
    "html.drawings.svg_document": drawings.svg_document,
    "html.drawings.svg_document: in a drawing": lambda text: drawings.svg_document(f"<svg><g>{text}"),
    "html.drawings.svg_document: in a tag": lambda text: drawings.svg_document(f"<svg {text}>"),
    "html.drawings.drawing_size": lambda text: drawings.drawing_size({"viewbox": text, "width": text, "height": text}),
    "html.rewrite_tags.find_drawing": lambda text: rewrite_tags.find_drawing(f"<svg><g>{text}", 0),
    "library.archive.video_details.read_oembed": lambda text: video_details.read_oembed(_bytes(text)),
    "library.archive.video_details.read_oembed: in the title": lambda text: video_details.read_oembed(
        json.dumps({"title": text, "thumbnail_url": text}).encode()
    ),
    "html.embedded_frames.link_to_frame": lambda text: embedded_frames.link_to_frame(
        "iframe", {"src": text, "title": text, "width": text}, URL
    ),
    "html.formulas.safe_formula_value": formulas.safe_formula_value,
    "html.players.find_player": lambda text: players.find_player(f"https://youtube.com/{text}"),
    "html.players.find_player: in the query": lambda text: players.find_player(f"https://youtube.com/watch?v={text}"),
    "html.players.find_player: Vimeo": lambda text: players.find_player(f"https://vimeo.com/1/{text}#t={text}"),
    "html.players.named_player": lambda text: players.named_player("youtube", text),
    "html.frame_cards.find_frames": lambda text: list(frame_cards.find_frames(text)),
    "html.frame_cards.show_frame_cards": lambda text: frame_cards.show_frame_cards(text, {}, _WORDS),
    "html.frame_cards.show_frame_cards: in a tag": lambda text: frame_cards.show_frame_cards(f"<a {text}", {}, _WORDS),
    "html.frame_cards.show_frame_cards: in a card": lambda text: frame_cards.show_frame_cards(
        f'<a href="{text}" data-frame="{text}">{text}</a>', {}, _WORDS
    ),
    "html.scroll_containers.wrap_wide_elements": lambda text: scroll_containers.wrap_wide_elements(text, _WORDS),
    "html.scroll_containers.wrap_wide_elements: in a tag": lambda text: scroll_containers.wrap_wide_elements(
        f"<pre {text}", _WORDS
    ),
    "html.readability.extract_article": readability.extract_article,
    "html.readability.extract_article: in an article": lambda text: readability.extract_article(
        f"<article><p>{'Some words of prose, and more. ' * 10}<p>{text}</article>"
    ),
    "html.readability.extract_article: in a class": lambda text: readability.extract_article(
        f"<div class='{text}'><p>a</div>"
    ),
    "library.entries.full_text.extract_full_text": lambda text: full_text.extract_full_text(
        _response(text), FeedSettings()
    ),
    "library.bookmarks.fetch_pages.page_facts": lambda text: fetch_pages.page_facts(_response(f"<title>{text}")),
    "library.entries.article.reading_minutes": article.reading_minutes,
    "library.users.own_css.check_own_css": own_css.check_own_css,
    "library.entries.list_entries.one_line": list_entries.one_line,
    "library.archive.raw_bodies.decode_raw_body": lambda text: raw_bodies.decode_raw_body(_bytes(text), "text/html"),
    "html.hide_remote_images.RemoteImageReplacer": lambda text: _images_hidden(text),
    "html.hide_remote_images.RemoteImageReplacer: in a tag": lambda text: _images_hidden(f"<img {text}"),
    "html.hide_remote_images.RemoteImageReplacer: in srcset": lambda text: _images_hidden(
        f'<img src="/a" srcset="{text}">'
    ),
    "html.hide_remote_images.RemoteImageReplacer: in a title": lambda text: _images_hidden(
        f'<img title="{escape(text)}" src="https://example.org/a" srcset="https://example.org/b 2x">'
        f'<video title="{escape(text)}" poster="https://example.org/a"></video>'
    ),
    "html.hide_remote_images.RemoteImageReplacer: after sanitizing": lambda text: _images_hidden(
        sanitize.sanitize_html(
            f"<img alt='{escape(text)}' src=a><img src='{escape(text)}'><p>{text}<img src=b {text}>", URL
        )
    ),
    "html.hide_remote_images.image_placeholder": lambda text: hide_remote_images.image_placeholder(
        f"https://{text}", text, text, _WORDS
    ),
    "html.selectors.parse_selector": selectors.parse_selector,
    "html.selectors.Selector.outermost": lambda text: _elements("div p > .a, [role=main] b i", text),
    # Feeds
    "collect.parsing.decode.decode": lambda text: decode.decode(_bytes(text), "text/xml; charset=gb2312"),
    "collect.parsing.decode.decode: broken bytes": lambda text: decode.decode(
        _bytes(text) + b"\xff", "charset=shift_jis"
    ),
    "collect.parsing.decode.decode: after an escape": lambda text: decode.decode(b"\x1b$B" + _bytes(text)),
    "collect.parsing.decode.decode: in the declaration": lambda text: decode.decode(_bytes(f"<?xml {text}") + b"\xff"),
    "collect.parsing.decode.codec_for": decode.codec_for,
    "collect.parsing.sniff_content.content_kind": lambda text: sniff_content.content_kind(_bytes(text)),
    "collect.parsing.sniff_content.prologue_end": lambda text: sniff_content.prologue_end(_bytes(text)[:4096]),
    "collect.parsing.repair.repair": repair.repair,
    "collect.parsing.repair.repair: in the prologue": lambda text: repair.repair(f"<!DOCTYPE rss [{text}"),
    "collect.parsing.repair.repair: with entities": lambda text: repair.repair(
        f"<!DOCTYPE rss [<!ENTITY a 'b'>{text}]><rss>{text}</rss>"
    ),
    "collect.parsing.declared_entities.read_declarations": declared_entities.read_declarations,
    "collect.parsing.declared_entities.read_declarations: in a value": lambda text: declared_entities.read_declarations(
        f"<!ENTITY a '{text}'>"
    ),
    "collect.parsing.repair.repair: in a feed": lambda text: repair.repair(_in_rss(text)),
    "collect.parsing.repair.repair: in the root": lambda text: repair.repair(f"<rss {text}><channel>"),
    "collect.parsing.repair.repair: in an element without end": lambda text: repair.repair(f"<img {text}"),
    "collect.parsing.repair.number_references": repair.number_references,
    "collect.parsing.balance_tags.balance": balance_tags.balance,
    "collect.parsing.balance_tags.balance: in a tag": lambda text: balance_tags.balance(f"<a {text}>"),
    "collect.parsing.xml_tree.read_strictly": lambda text: _strictly(f"<a>{text}</a>"),
    "collect.parsing.xml_tree.read_strictly: in a tag": lambda text: _strictly(f"<a {text}></a>"),
    "collect.parsing.xml_tree.read_tolerantly": lambda text: xml_tree.read_tolerantly(_bytes(f"<a>{text}</a>")),
    "collect.parsing.xml_tree.read_tolerantly: in a tag": lambda text: xml_tree.read_tolerantly(
        _bytes(f"<a {text}></a>")
    ),
    "collect.parsing.parse_feed.parse_feed": _parse,
    "collect.parsing.parse_feed.parse_feed: RSS title": lambda text: _parse(_in_rss(text)),
    "collect.parsing.parse_feed.parse_feed: RSS content": lambda text: _parse(
        f"<rss><channel><item><description><![CDATA[{text}]]></description></item></channel></rss>"
    ),
    "collect.parsing.parse_feed.parse_feed: RSS item": lambda text: _parse(
        f"<rss><channel><item>{text}</item></channel></rss>"
    ),
    "collect.parsing.parse_feed.parse_feed: RSS channel": lambda text: _parse(f"<rss><channel>{text}</channel></rss>"),
    "collect.parsing.parse_feed.parse_feed: id and categories of the feed": lambda text: _parse(
        f"<feed><id>{text}</id><category>{text}</category><keywords>{text}</keywords></feed>"
    ),
    "collect.parsing.parse_feed.parse_feed: RSS attribute": lambda text: _parse(
        f"<rss><channel><item><enclosure url='{text}'/><category domain='{text}'/></item></channel></rss>"
    ),
    "collect.parsing.parse_feed.parse_feed: RSS fields": lambda text: _parse(
        f"<rss><channel><item><link>{text}</link><guid>{text}</guid><pubDate>{text}</pubDate><author>{text}</author>"
        f"<category>{text}</category></item></channel></rss>"
    ),
    "collect.parsing.parse_feed.parse_feed: Atom": lambda text: _parse(
        f"<feed xmlns='http://www.w3.org/2005/Atom'><entry><title type='html'>{text}</title><link href='{text}'/>"
        f"<updated>{text}</updated><content type='xhtml'><div>{text}</div></content></entry></feed>"
    ),
    "collect.parsing.parse_feed.parse_feed: RDF": lambda text: _parse(
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"
        f"<item rdf:about='{text}'><title>{text}</title><description>{text}</description></item></rdf:RDF>"
    ),
    "collect.parsing.parse_feed.parse_feed: JSON": lambda text: _parse(
        _json_item(title=text, content_html=text, url=text, date_published=text), "application/json"
    ),
    "collect.parsing.truncation.is_truncated": lambda text: truncation.is_truncated(
        f"<rss>{text}", _bytes(f"<rss>{text}")
    ),
    "collect.parsing.truncation.unfinished_entry": truncation.unfinished_entry,
    "collect.parsing.truncation.read_truncated_json": lambda text: truncation.read_truncated_json('{"items": [' + text),
    "collect.parsing.formats.jsonfeed.read_json_feed": lambda text: jsonfeed.read_json_feed("{" + text, URL, "utf-8"),
    "collect.entries.changes.compare_entries": _reconciled,
    "collect.entries.storable_text.storable_text": storable_text.storable_text,
    "collect.entries.storable_text.storable_link": storable_text.storable_link,
    "collect.entries.storable_text.storable_identity": storable_text.storable_identity,
    "collect.entries.storable_text.storable_language": storable_text.storable_language,
    "collect.parsing.formats.field_texts.clip_text": field_texts.clip_text,
    "collect.parsing.formats.xml_scope.clean_language": xml_scope.clean_language,
    "collect.parsing.formats.xml_scope.XmlScope.resolve": lambda text: xml_scope.XmlScope(URL).resolve(text),
    "collect.parsing.formats.element_names.ElementNames": lambda text: element_names.ElementNames("")[f"{text}}}item"],
    "collect.parsing.formats.element_names.split_name": element_names.split_name,
    "collect.parsing.formats.element_names.opens_feed": element_names.opens_feed,
    # Dates
    "collect.parsing.formats.dates.parse_date": dates.parse_date,
    "collect.parsing.formats.loose_dates.parse_loose_date": lambda text: loose_dates.parse_loose_date(text[:100]),
    "collect.parsing.formats.calendar_day.read_day": lambda text: calendar_day.read_day(text[:100]),
    "collect.parsing.formats.time_zones.read_zone": lambda text: time_zones.read_zone(text[:100]),
    "collect.parsing.formats.extensions.parse_duration": extensions.parse_duration,
    "collect.parsing.formats.extensions.parse_offset": extensions.parse_offset,
    "library.search.query_dates.read_range": lambda text: query_dates.read_range(text, NOW),
    "library.search.query_dates.read_span": lambda text: query_dates.read_span(text, NOW),
    "library.search.query_dates.read_moment": lambda text: query_dates.read_moment(text, NOW),
    "outbound.response_headers.parse_http_date": response_headers.parse_http_date,
    "collect.hub_links.links_by_relation": lambda text: hub_links.links_by_relation(text, "https://example.org/"),
    "collect.hub_links.links_by_relation: in a parameter": lambda text: hub_links.links_by_relation(
        f"<https://hub.example/>; rel={text}", "https://example.org/"
    ),
    "library.hubs.callbacks.is_signed": lambda text: callbacks.is_signed(f"sha256={text}", b"body", ("secret",)),
    # OPML and declared feeds
    "library.subscriptions.opml.read_opml": lambda text: opml.read_opml(_bytes(f"<opml><body>{text}")),
    "library.subscriptions.opml.read_opml: in an outline": lambda text: opml.read_opml(
        _bytes(f"<opml><outline {text}")
    ),
    "library.subscriptions.opml.read_opml: in the title": lambda text: opml.read_opml(
        _bytes(f"<opml><title>{text}<outline>")
    ),
    "library.subscriptions.opml.write_opml": lambda text: opml.write_opml(
        [opml.OpmlFeed(URL, text, URL, (text,))], title=text
    ),
    "collect.declared.read_data_file.read_data_file": lambda text: read_data_file.read_data_file(_file(text, "yaml")),
    "collect.declared.read_data_file.read_data_file: JSON": lambda text: read_data_file.read_data_file(
        _file(text, "json")
    ),
    "collect.declared.feeds_file.read_declarations": lambda text: read_declarations(
        _file(json.dumps({"feeds": [{"url": text, "interval": text, "folder": text}]}), "yaml")
    ),
    # Search language and rules
    "library.search.query_tokens.tokenize": query_tokens.tokenize,
    "library.search.query_parser.parse_query": lambda text: query_parser.parse_query(
        query_tokens.tokenize(text[:1000]), _NAMES, NOW
    ),
    "library.search.query_names.name_term": lambda text: query_names.name_term("label", text),
    "library.search.query_hints.terms_of": lambda text: query_hints.terms_of(text[:1000]),
    "library.search.query_hints.words_to_highlight": lambda text: query_hints.words_to_highlight(text[:1000]),
    "library.search.query_hints.looser_searches": lambda text: query_hints.looser_searches(text[:1000]),
    "library.search.query_names.UserNames": lambda text: (_NAMES.feeds(text), _NAMES.folder(text), _NAMES.labels(text)),
    "library.filters.rules.parse_rules": lambda text: rules.parse_rules(text, text),
    "library.filters.rules.judge_entry": _judged,
    "pools.program_texts.checked_text": lambda text: program_texts.checked_text(PoolKind.CONTENTS, text, text, 1),
    "store.pools.source_tables.TABLE_NAME": source_tables.TABLE_NAME.fullmatch,
    "model.syndication.output_feed.parse_output_list": output_feed.parse_output_list,
    "serve.output_feeds.atom.write_atom": lambda text: atom.write_atom(_output_document(text)),
    "outbound.apprise_schemes.scheme_of": apprise_schemes.scheme_of,
    "library.notifications.target_urls.check_target_url": lambda text: target_urls.check_target_url(f"ntfy://{text}"),
    "library.services.service_options.parse_options": lambda text: service_options.parse_options(
        ServiceKind.LINKDING, {"address": URL, "token": text, "tags": text}
    ),
    "library.services.template_request.check_template": lambda text: template_request.check_template(
        ServiceOptions(address=f"{URL}?{text}", body_format="text", body=text)
    ),
    "library.services.template_request.fill_template": lambda text: template_request.fill_template(
        ServiceOptions(address="https://a.example/?u={url}", body_format="text", body=text),
        SavedArticle(1, text, text, text=text),
    ),
    "pools.rules.matches_rule": lambda text: pool_rules.matches_rule(_POOL_RULE, _candidate(text)),
    "library.search.snippets.snippet": lambda text: snippets.snippet(text, _SOUGHT),
    "serve.web.search.search_view.highlight": lambda text: search_view.highlight(text, _SOUGHT),
    "store.search.tokenizer.words_of": tokenizer.words_of,
    "store.search.tokenizer.words_of: after CJK": lambda text: tokenizer.words_of(f"字{text}"),
    "store.search.tokenizer.words_of_html": tokenizer.words_of_html,
    "store.search.tokenizer.words_of_html: in a tag": lambda text: tokenizer.words_of_html(f"<script {text}"),
    "store.search.tokenizer.words_of_html: after a comment": lambda text: tokenizer.words_of_html(f"<!-- -->{text}"),
    "store.search.tokenizer.visible_text": tokenizer.visible_text,
    "store.search.tokenizer.words_of_url": lambda text: tokenizer.words_of_url(f"https://{text}/{text}"),
    "store.search.tokenizer.fold_text": tokenizer.fold_text,
    "store.search.tokenizer.site_word": lambda text: tokenizer.site_word(text[: hosts.MAX_HOST_LENGTH]),
    "store.search.tokenizer.query_words": lambda text: tokenizer.query_words(text[:1000]),
    # Differences
    # Longer than the number of pairs it compares at most: up to there the time grows with the pairs.
    "library.entries.text_diff.diff_text": lambda text: text_diff.diff_text("a. " * 600 + text, "b. " * 600 + text),
    "library.archive.line_diff.diff_lines": lambda text: line_diff.diff_lines(*_versions(text)),
    # HTTP
    "outbound.push_encryption.check_browser_keys": lambda text: push_encryption.check_browser_keys(text, text),
    "outbound.http_response.HttpResponse": lambda text: _answer(b"x", text).text("x"),
    "outbound.response_headers.validators_of": lambda text: response_headers.validators_of(_answer(b"etag", text)),
    "outbound.response_headers.freshness_of": lambda text: response_headers.freshness_of(
        _answer(b"cache-control", text)
    ),
    "outbound.response_headers.freshness_of: expires": lambda text: response_headers.freshness_of(
        _answer(b"expires", text)
    ),
    "outbound.response_headers.retry_after_of": lambda text: response_headers.retry_after_of(
        _answer(b"retry-after", text), NOW
    ),
    "outbound.content_encoding.BodyDecoder": lambda text: content_encoding.BodyDecoder(text, 1000),
    "outbound.content_encoding.BodyDecoder: in the body": lambda text: content_encoding.BodyDecoder("", 1 << 30).feed(
        _bytes(text)
    ),
    "outbound.request_headers.request_headers": lambda text: request_headers.request_headers(
        "agent", fetch_outcome.Validators(text, text), encrypted_options.parse_options(None)
    ),
    "serve.mcp.redact_urls.redact_urls": redact_urls.redact_urls,
    "serve.mcp.redact_urls.redact_feed_url": redact_urls.redact_feed_url,
    "serve.mcp.redact_urls.secrets_of_feed_url": redact_urls.secrets_of_feed_url,
    "serve.mcp.untrusted_text.wrap_untrusted": untrusted_text.wrap_untrusted,
    "serve.http.cache_headers.matches_etag": lambda text: cache_headers.matches_etag(
        _request({"if-none-match": text[:HEADER]}), '"a"'
    ),
    "serve.http.archived_images.serve_image_to: in the range": lambda text: archived_images._RANGE.fullmatch(text),
    "serve.http.sse.parse_last_event_id": sse.parse_last_event_id,
    "serve.web.users.sessions.device": session_pages.device_name,
    "i18n.choose_language.choose_language": choose_language.choose_language,
    "serve.web.filters.title_words.title_words": title_words.title_words,
    "serve.web.core.read_form.checked_form: in the type": lambda text: read_form._UTF_8.fullmatch(f"text/html;{text}"),
    "serve.web.core.read_form.checked_form: in the body": lambda text: _form(
        _bytes(text), "application/x-www-form-urlencoded"
    ),
    "serve.web.core.read_form.checked_form: in a part": lambda text: _form(
        _bytes(f'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n{text}\r\n--x--\r\n'),
        "multipart/form-data; boundary=x",
    ),
    "serve.web.core.read_form.checked_form: in a part's header": lambda text: _form(
        _bytes(f"--x\r\nContent-Disposition: form-data; {text}\r\n\r\na\r\n--x--\r\n"),
        "multipart/form-data; boundary=x",
    ),
    "serve.web.core.jinja_environment.lang_attribute": jinja_environment.lang_attribute,
    "serve.web.entries.list_filter.list_filter_of": lambda text: list_filter.list_filter_of(
        _request({"cookie": f"{list_filter.VIEWS_COOKIE}={text[:HEADER]}"}), "a", list_filter.ListFilter()
    ),
    "serve.web.entries.list_filter.list_filter_of: query": lambda text: list_filter.list_filter_of(
        _request(query=text[:HEADER]), "a", list_filter.ListFilter()
    ),
    "serve.web.core.flash.read_flash": lambda text: flash.read_flash(
        _request({"cookie": f"{flash.FLASH_COOKIE}={text[:HEADER]}"}), _WORDS
    ),
    "serve.web.core.keymap.split_keys": keymap.split_keys,
    "serve.web.core.keymap.keymap_errors": lambda text: keymap.keymap_errors(
        {**keymap.DEFAULT_KEYMAP, "star": keymap.split_keys(text[:2000])}
    ),
    "i18n.messages.message_from_stored": messages.message_from_stored,
    "i18n.dates.time_zone": moments.time_zone,
    "serve.web.subscriptions.subscribe_problems.display_host": subscribe_problems.display_host,
    "serve.web.entries.list_views.read_view": list_views.read_view,
    "serve.web.core.redirects.local_path": page_redirects.local_path,
    "serve.web.subscriptions.discovery_view.url_in_text": lambda text: discovery_view.url_in_text("", text),
    "serve.web.core.read_form.read_id": read_form.read_id,
    "serve.web.feeds.subscription_fields.read_interval": subscription_fields.read_interval,
    "serve.web.search.search_view.search_path": search_view.search_path,
    "serve.http.jwt_tokens.read_token": lambda text: jwt_tokens.read_token("k" * 32, jwt_tokens.ACCESS, text),
    "serve.http.jwt_tokens.read_token: in three parts": lambda text: jwt_tokens.read_token(
        "k" * 32, jwt_tokens.ACCESS, f"a.{text}.b"
    ),
    "library.users.own_css.check_own_css: in an address": lambda text: own_css.check_own_css(f"a {{ b: url({text}"),
    "i18n.connection_errors.message_in_text": connection_errors.message_in_text,
    "serve.greader.item_ids.parse_item_id": item_ids.parse_item_id,
    "serve.greader.streams.normal_stream": lambda text: streams.normal_stream(f"user/{text}"),
    "serve.http.path_aliases.api_path": lambda text: path_aliases.api_path(f"/feeds/{text}", True),
    "serve.http.app_parameters.read_parameters": lambda text: _LOOP.run_until_complete(
        app_parameters.read_parameters(_request(query=text, body=_bytes(text)))
    ),
    "i18n.natural_order.natural_key": natural_order.natural_key,
    "library.cursors.from_cursor": cursors.from_cursor,
    "library.cursors.from_list_cursor": cursors.from_list_cursor,
    "library.entries.sync_cursor.decode_cursor": sync_cursor.decode_cursor,
    "library.cursors.key_at": lambda text: cursors.key_at(text, str),
    "library.subscriptions.http_options.parse_http_options": lambda text: http_options.parse_http_options(
        {"headers": text}
    ),
    "library.subscriptions.http_options.parse_http_options: user agent": lambda text: http_options.parse_http_options(
        {"user_agent": text}
    ),
    "outbound.encrypted_options.parse_options": encrypted_options.parse_options,
    # Addresses
    "outbound.user_urls.parse_user_url": user_urls.parse_user_url,
    "absolute_urls.absolute_url": lambda text: absolute_urls.absolute_url(text, URL),
    "absolute_urls.safe_link": absolute_urls.safe_link,
    "collect.feed_moves.is_same_site": lambda text: feed_moves.is_same_site(f"https://{text[:8000]}/", URL),
    "absolute_urls.is_plain_url": absolute_urls.is_plain_url,
    "absolute_urls.absolute_url: complete": lambda text: absolute_urls.absolute_url(f"https://example.org/{text}", URL),
    "absolute_urls.absolute_url: at the limit": lambda text: absolute_urls.absolute_url(
        text[: absolute_urls.MAX_LENGTH], f"{URL}/{text}"
    ),
    "outbound.urls.parse_url": urls.parse_url,
    "outbound.urls.parse_url: host": lambda text: urls.parse_url(f"https://{text[:8000]}/"),
    "outbound.urls.parse_url: path": lambda text: urls.parse_url(f"https://example.org/{text[:8000]}"),
    "outbound.urls.resolve_location": lambda text: urls.resolve_location(urls.parse_url(URL), _bytes(text)),
    "outbound.urls.may_share_secrets": lambda text: urls.may_share_secrets(f"https://{text}", f"https://{text}/a"),
    "outbound.urls.is_ip_address": urls.is_ip_address,
    "model.hosts.host_of": hosts.host_of,
    "library.admin.blocked_hosts.parse_blocked_host": blocked_hosts.parse_blocked_host,
    "outbound.user_urls.parse_url_without_login": user_urls.parse_url_without_login,
    "library.subscriptions.folders.clip_path": lambda text: folders.clip_path(tuple(text.split("/"))),
    "library.users.manage_users.normalize_user_name": manage_users.normalize_user_name,
    "library.users.second_factor.normalize_code": second_factor.normalize_code,
    "library.users.pending_sign_in.read_pending_token": pending_sign_in.read_pending_token,
    "library.users.recovery_codes.recovery_code_digest": recovery_codes.recovery_code_digest,
    "model.hosts.host_and_parents": lambda text: list(hosts.host_and_parents(text[:255])),
    "model.control_characters.replace_control_characters": control_characters.replace_control_characters,
    "logs.redact_event": lambda text: redact_event(None, "info", {"event": text, "url": text}),
    # Discovery
    "html.tracking_parameters.without_trackers": lambda text: tracking_parameters.without_trackers(f"{URL}?{text}"),
    "html.tracking_parameters.without_trackers: behind a hash": lambda text: tracking_parameters.without_trackers(
        f"{URL}#{text}"
    ),
    "html.tracking_parameters.without_trackers: complete": tracking_parameters.without_trackers,
    "html.tracking_parameters.remove_trackers": lambda text: tracking_parameters.remove_trackers(text, "example.org"),
    "html.tracking_parameters.parameter_name": tracking_parameters.parameter_name,
    "html.redirect_targets.redirect_target": redirect_targets.redirect_target,
    "html.redirect_targets.redirect_target: in the query": lambda text: redirect_targets.redirect_target(
        f"https://go.example.org/?{text}"
    ),
    "html.redirect_targets.redirect_target: in an AMP path": lambda text: redirect_targets.redirect_target(
        f"https://google.com/amp/s/{text}"
    ),
    "html.redirect_targets.redirect_target: in a path of FeedBlitz": lambda text: redirect_targets.redirect_target(
        f"https://feeds.feedblitz.com/~/{text}"
    ),
    "html.canonical_link.canonical_link": canonical_link.canonical_link,
    "html.canonical_link.canonical_link: in the host": lambda text: canonical_link.canonical_link(f"https://{text}/a"),
    "html.canonical_link.canonical_link: in the path": lambda text: canonical_link.canonical_link(
        f"https://example.org/{text[: absolute_urls.MAX_LENGTH]}"
    ),
    "html.canonical_link.canonical_link: in the query": lambda text: canonical_link.canonical_link(
        f"https://example.org/?{text[: absolute_urls.MAX_LENGTH]}"
    ),
    "html.canonical_link.canonical_link: behind a hash": lambda text: canonical_link.canonical_link(
        f"https://example.org/#{text[: absolute_urls.MAX_LENGTH]}"
    ),
    "html.web_page.read_page": lambda text: web_page.read_page(text, URL),
    "html.web_page.read_page: in a link": lambda text: web_page.read_page(
        f"<a href='{text}' title='{text}'>{text}</a>", URL
    ),
    "collect.parsing.decode.decode_page": lambda text: decode.decode_page(_bytes(f"<meta {text}"), None),
    "collect.discovery.page_feeds.find_page_feeds": lambda text: page_feeds.find_page_feeds(
        _bytes(text), content_type=None, url=URL
    ),
    "collect.discovery.page_feeds.find_page_feeds: in links": lambda text: page_feeds.find_page_feeds(
        _bytes(f"<link rel=alternate type=text/xml href='/{text}' title='{text}'><a href='/?{text}'>{text}</a>"),
        content_type=None,
        url=URL,
    ),
    "collect.discovery.page_feeds.candidate_urls": lambda text: page_feeds.candidate_urls(
        f"https://example.org/{text[:8000]}"
    ),
    "collect.discovery.site_patterns.site_feeds": lambda text: site_patterns.site_feeds(_page(text)),
    "collect.discovery.site_patterns.site_feeds: YouTube": lambda text: site_patterns.site_feeds(
        web_page.WebPage("https://youtube.com/", f'<meta itemprop="identifier" content="{text}')
    ),
    "collect.discovery.site_patterns.site_feeds: podcast": lambda text: site_patterns.site_feeds(
        web_page.WebPage("https://podcasts.apple.com/", f'"feedUrl":"https:{text}')
    ),
    "collect.discovery.site_software.software_feeds": lambda text: list(site_software.software_feeds(_page(text))),
    # Stories
    "collect.stories.article_links.article_links": lambda text: article_links.article_links(
        ParsedEntry(link=text, content_html=f"Article URL: {text} [link]")
    ),
    "collect.stories.article_links.names_article": article_links.names_article,
    "collect.stories.sign_entry.sign_entry": lambda text: sign_entry.sign_entry(
        ParsedEntry(link=f"https://example.org/{text[:8000]}", title=text, content_html=f"{text} [link]")
    ),
    "collect.stories.sketch.decode_sketch": sketch.decode_sketch,
    "collect.stories.sketch.hash_word": lambda text: sketch.hash_word(_bytes(text)),
    "collect.stories.sketch.keys_of_sketch": sketch.keys_of_sketch,
    # Archive
    "archive.images.file_types.detect_image_type": lambda text: file_types.detect_image_type(_bytes(text)),
    "archive.images.file_types.describe_non_image": lambda text: file_types.describe_non_image(_bytes(text)),
    "archive.images.file_types.is_svg": lambda text: file_types.is_svg(_bytes(f"<svg{text}")),
    "archive.object_keys.parse_image_key": object_keys.parse_image_key,
    "archive.object_keys.parse_raw_body_key": object_keys.parse_raw_body_key,
    "archive.object_keys.parse_descriptor_key": object_keys.parse_descriptor_key,
    "archive.object_keys.guid_digest": object_keys.guid_digest,
    "archive.object_paths.path_of": object_paths.path_of,
    "archive.object_paths.folder_of": object_paths.folder_of,
    "archive.object_paths.key_of": object_paths.key_of,
}


def _images_hidden(text: str) -> str:
    images = hide_remote_images.ArticleImages((), {}, lambda url: url)
    return hide_remote_images.RemoteImageReplacer(images, _WORDS).hide(text)


def _strictly(text: str) -> object:
    try:
        return xml_tree.read_strictly(_bytes(text))
    except xml_tree.IllFormed:
        return None


NOT_HOSTILE = frozenset(
    {
        # Written by the operator.
        "identity_providers",
        "outbound.own_site.ask_own_site",
        # Statements of ours.
        "store.drivers.postgres_bulk_insert",
        "store.drivers.postgres_merged_steps",
        # Aliases of what is measured, or parts of it.
        "collect.restore_bodies.parse_body",
        "collect.parsing.parse_feed.parse_well_formed_utf8",
        "collect.parsing.parse_off_loop.parse_off_loop",
        "html.images.image_slots",
        "html.tags.end_of_raw_text",
        "html.tags.is_self_closing",
        # They read the beginning or the end only, or a URL that was checked before.
        "collect.hub_links.is_light_push",
        "collect.parsing.formats.links.is_web_url",
        "collect.parsing.formats.xml_scope.scope_of",
        "collect.discovery.site_software.origin",
        "collect.parsing.sniff_content.is_binary",
        # Their expressions match whole texts of a fixed form, or text that we wrote ourselves.
        "archive.s3",
        "engine.celery_logs",
        "outbound.apprise_messages",
        "outbound.push_encryption.public_key_of",
        "outbound.push_encryption.push_authorization",
        "i18n.translator",
        "cli.output.print_text",
        "library.search.run_search",
        "library.feeds.icons",
        "serve.greader.atom",
        "serve.http.body_limits",
        "serve.rest",
        "serve.rest.core.field_types",
        "serve.web.archive.feed_archive",
        "serve.web.core.assets",
        "serve.web.core.script_bundle",
        "store.drivers.d1_statements",
        "store.feeds.fetch_log_days",
        "store.drivers.sqlite_json_insert",
    }
)
