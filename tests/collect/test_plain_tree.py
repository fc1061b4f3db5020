"""The compiled reader of plain documents: never another tree than expat's, and none where expat has none."""

import os
import resource
import shutil
import subprocess
import sys
import sysconfig
from itertools import zip_longest
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedmill.collect import xml_tree
from feedmill.collect.parse import ParsedFeed, parse
from feedmill.collect.xml_tree import IllFormed, read_plainly, read_strictly
from feedmill.errors import NotAFeed

DATA = Path(__file__).parents[1] / "data"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
IS_COMPILED = read_plainly.__module__ != xml_tree.__name__
FALL_BACK = """
import sys
sys.modules["feedmill.collect.plain_tree"] = None
from feedmill.collect.parse import parse
print(parse(b"<rss><channel><title>Alice</title></channel></rss>").title)
"""
LIMITS = (0x20, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFD, 0x10000, 0x10FFFF)
PLAIN = {
    "declaration": b'<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>\n<?xml-stylesheet href="a"?>\n<a/>\n',
    "texts": "<a>é<b>1</b> ü <c/>x</a>".encode(),
    "references": b"<a b='&lt;&#9;&quot;'>&lt;&gt;&amp;&quot;&apos;&#8217;&#x1F600;&#13;</a>",
    "numbers": "".join(f"<a>&#{code};&#x{code:X};&#x{code:x};</a>" for code in LIMITS).join(("<a>", "</a>")).encode(),
    "sections": b"<a> 1 <![CDATA[<b>&amp;]]]]><![CDATA[>]]> 2 <!-- no --> 3 </a><!-- no -->",
    "lines": b"<a>\r\n1\r2\n<![CDATA[\r\n\r]]></a>",
    "namespaces": b"<a xmlns='u' xmlns:p='v' p:c='1' c='2' xml:lang='de'><p:b/><b xmlns='w'><b/></b><b/></a>",
    "spaces": b"<a  b = '1'\n\tc='2' ><d /></a >",
    "depth": b"<a>" * 200 + b"</a>" * 200,
}
ODD = {
    "nothing": b"",
    "no element": b"<!-- a -->",
    "two roots": b"<a/><a/>",
    "text outside": b"<a/>b",
    "section outside": b"<a/><![CDATA[ ]]>",
    "never closed": b"<a>",
    "closed otherwise": b"<a></b>",
    "closed by a longer name": b"<a></ab>",
    "closed too often": b"<a/></a>",
    "breaks off in a tag": b"<a b='1'",
    "breaks off in a value": b"<a b='1",
    "breaks off in a reference": b"<a>&am",
    "breaks off in a comment": b"<a><!-- -",
    "breaks off in a section": b"<a><![CDATA[ ]]",
    "breaks off at once": b"<",
    "attribute twice": b"<a b='1' b='2'/>",
    "attribute twice by namespace": b"<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>",
    "declared twice": b"<a xmlns:p='u' xmlns:p='v'/>",
    "unknown prefix": b"<a><p:b/></a>",
    "prefix of an inner element": b"<a><b xmlns:p='u'/><p:b/></a>",
    "no namespace again": b"<a xmlns='u'><b xmlns=''/></a>",
    "xml as another prefix": b"<a xmlns:p='http://www.w3.org/XML/1998/namespace' p:b='1'/>",
    "a long namespace": b"<a xmlns='" + b"u" * 201 + b"'/>",
    "brace in a namespace": b"<a xmlns='u}v'/>",
    "line in a value": b"<a b='1\n2\t3'/>",
    "less in a value": b"<a b='<'/>",
    "section end in a text": b"<a>]]></a>",
    "two dashes in a comment": b"<a><!-- -- --></a>",
    "instruction": b"<a>1<?b c?>2</a>",
    "late declaration": b"<a><?xml version='1.0'?></a>",
    "document type": b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "unknown entity": b"<a>&nbsp;</a>",
    "no character": b"<a>&#0;</a>",
    "half a character": b"<a>&#xD800;</a>",
    "beyond the last character": b"<a>&#x110000;</a>",
    "a number that is no character": b"<a>&#xFFFF;</a>",
    "a prefix in a number": b"<a>&#x0x41;</a>",
    "a sign in a number": b"<a>&#-65;</a>",
    "no number": b"<a>&#;&#x;</a>",
    "letters in a decimal number": b"<a>&#6F;</a>",
    "a long number": b"<a>&#" + b"0" * 5000 + b"65;</a>",
    "zero byte": b"<a>\0</a>",
    "control character": b"<a>\x01</a>",
    "forbidden character": b"<a>\xef\xbf\xbf</a>",
    "no UTF-8": b"<a>\xff</a>",
    "no UTF-8 in a comment": b"<a><!-- \xff --></a>",
    "character around a comment": b"<a>\xc3<!-- -->\xa9</a>",
    "character around a section": b"<a>\xc3<![CDATA[\xa9]]></a>",
    "name beyond ASCII": "<é ü='1'/>".encode(),
    "colons": b"<a:b:c/>",
    "too deep": b"<a>" * 100_000 + b"</a>" * 100_000,
    "attributes": b"<a " + b" ".join(b"a%d='1'" % n for n in range(10_000)) + b"/>",
    "prefixes": b"<a " + b" ".join(b"xmlns:a%d='u'" % n for n in range(10_000)) + b"/>",
    "declarations": b"<a xmlns:p='u'>" * 10_000 + b"</a>" * 10_000,
}
PIECES = [
    b"<a>", b"</a>", b"<a", b">", b"/>", b"<p:a>", b"</p:a>", b"<b/>", b" xmlns='u'", b" xmlns:p='v'", b" p:c='&lt;'",
    b' c="1"', b"c", b" ", b"\n", b"\r", b"&amp;", b"&#233;", b"&", b";", b"<![CDATA[", b"]]>", b"]", b"<!--", b"-->",
    b"-", b"<?", b"?>", b"\xc3", b"\xa9", b"\xef\xbf\xbd", b"'", b'"', b"=", b":", b"\0",
]  # fmt: skip

# Where every suite must run, it fails instead.
compiled = pytest.mark.skipif(not IS_COMPILED and not os.environ.get("CI"), reason="plain_tree.pyx was not compiled")


def by_expat(document: bytes) -> Element | None:
    try:
        return xml_tree._read_by_expat(document)
    except IllFormed:
        return None


def assert_same(one: Element, other: Element) -> None:
    for mine, theirs in zip_longest(one.iter(), other.iter()):
        assert (mine.tag, mine.text, mine.tail, len(mine)) == (theirs.tag, theirs.text, theirs.tail, len(theirs))
        assert list(mine.attrib.items()) == list(theirs.attrib.items())


def assert_never_another_tree(document: bytes) -> None:
    root, expected = read_plainly(document), by_expat(document)
    if root is not None:
        assert expected is not None
        assert_same(root, expected)


def read_or_refused(data: bytes) -> ParsedFeed | str:
    try:
        return parse(data)
    except NotAFeed as refused:
        return refused.looks_like


def test_it_is_compiled_where_it_can_be() -> None:
    can_be = shutil.which("cc") and Path(sysconfig.get_path("include"), "Python.h").exists()

    assert IS_COMPILED or not (can_be or os.environ.get("CI"))


def test_feeds_are_read_where_it_was_not_compiled() -> None:
    done = subprocess.run([sys.executable, "-c", FALL_BACK], capture_output=True, text=True, check=True)

    assert done.stdout == "Alice\n"


@compiled
@pytest.mark.parametrize("document", PLAIN.values(), ids=PLAIN)
def test_what_is_plain_is_read_as_expat_reads_it(document: bytes) -> None:
    root, expected = read_plainly(document), by_expat(document)

    assert root is not None
    assert expected is not None
    assert_same(root, expected)


@compiled
@pytest.mark.parametrize("document", ODD.values(), ids=ODD)
def test_what_is_odd_is_left_to_expat(document: bytes) -> None:
    assert read_plainly(document) is None


@compiled
@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_no_document_becomes_another_tree(pieces: list[bytes]) -> None:
    assert_never_another_tree(b"<a xmlns:p='u'>" + b"".join(pieces) + b"</a>")


@compiled
@pytest.mark.parametrize("document", PLAIN.values(), ids=PLAIN)
def test_no_document_that_breaks_off_becomes_another_tree(document: bytes) -> None:
    for end in range(min(len(document), 200)):
        assert_never_another_tree(document[:end])


@compiled
@pytest.mark.parametrize("folder", [DATA, CORPUS], ids=["tests", "corpus"])
def test_feeds_are_the_same_either_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()]
    feeds = [read_or_refused(document) for document in documents]

    monkeypatch.setattr(xml_tree, "read_plainly", lambda utf8: None)

    assert feeds == [read_or_refused(document) for document in documents]


@compiled
@pytest.mark.parametrize("end", [b"</a>", b"</b>", b"\xff</a>"], ids=["read", "ill-formed", "no UTF-8"])
def test_nothing_is_left_behind_in_memory(end: bytes) -> None:
    document = b"<a>" + b"x" * 5_000_000 + end
    read_plainly(document)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for _ in range(40):
        read_plainly(document)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB; the texts alone are 200,000


def test_a_declaration_is_refused_by_both_ways(way: None) -> None:
    with pytest.raises(IllFormed):
        read_strictly(b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>")
