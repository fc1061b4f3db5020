"""Guesses from its first bytes what a document is: XML, JSON, HTML, binary, text or empty."""

import re

_SPACE_AND_COMMENTS = re.compile(rb"(?:\s+|<!--.*?-->|<\?.*?\?>)*", re.DOTALL)
_HTML = re.compile(rb"<!doctype\s+html|<html\b|<head\b|<body\b|<script\b|<meta\b", re.IGNORECASE)
_FEED = re.compile(rb"<(?:[\w.-]{1,20}:)?(?:rss|feed|rdf|channel)\b", re.IGNORECASE)
_MAGIC = (b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"%PDF", b"PK\x03\x04", b"\x1f\x8b", b"BZh", b"ID3", b"OggS", b"RIFF")
_PROLOGUE = 4096


def content_kind(utf8: bytes) -> str:
    """One of empty, json, html, xml, binary, text."""
    start = utf8[:_PROLOGUE]
    stripped = start.lstrip(b"\0\t\r\n \xc2\xa0\xe2\x80\x8b")
    if not stripped:
        return "empty"
    if start.count(0) > len(start) // 10:
        return "binary"
    if stripped[:1] in b"{[":
        return "json"
    return _markup(stripped)


def is_binary(data: bytes) -> bool:
    """Whether a document begins with the magic number of an image, PDF, archive or media file."""
    return data.startswith(_MAGIC)


def prologue_end(utf8: bytes) -> int:
    """The position after the comments and processing instructions at the beginning of a document."""
    prologue = _SPACE_AND_COMMENTS.match(utf8)
    return prologue.end() if prologue else 0


def _markup(start: bytes) -> str:
    rest = start[prologue_end(start) :]
    if _HTML.match(rest):
        return "xml" if _FEED.search(rest[:200]) else "html"
    return "xml" if b"<" in start else "text"
