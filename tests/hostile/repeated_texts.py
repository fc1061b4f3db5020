"""Texts that repeat one piece: every separator, bracket, quote and white space, alone, in pairs, in markup.

The ending after the last piece matters too: many an expression is slow only where it fails at the end.
"""

from itertools import combinations

# fmt: off
CHARACTERS = (
    "<", ">", "&", ",", ";", ":", "=", '"', "'", "`", "(", ")", "[", "]", "{", "}", "/", "\\", "|", "#", "?", "!",
    "%", "@", "-", "_", "+", "*", ".", "~", "$", "^", " ", "\t", "\n", "\r", "\f", "\v", "\x00", "\x1b", "\x85",
    "\xa0", "\u2028", "\u200b", "\u3000", "a", "T", "0", "é", "字", "，", "。", "“", "”", "「", "\u0301", "\ufffd",
    "\U0001f600",
)
PIECES = (
    "</", "<!--", "-->", "<!", "<?", "?>", "--!>", "<!-->", "&#", "&#x", "&a;", "&amp;", "&amp", "&#1;", "&lt;a&gt;",
    " ,", "a ,", "a 1x,", "\t ", "\r\n", ";=", "a=", "a=b ", "a=' ", 'a="', "a='b' ", "a;q=", "a;q=1,", "max-age=",
    "url(", "/*", "*/", "]]>", "<![CDATA[", "<![CDATA[]]>", "<!DOCTYPE ", "<!ENTITY ", "<a ", "<a>", "</a>", "<a",
    "<a href='", "<b>", "</b>", "<b><p>", "<i><b></i>", "<p>", "</p>", "</p> <p>", "<p></p>", "<br>", "<div>",
    "</div>", "<div><p>a", "<li>", "<ul><li>", "<table>", "<table><tr><td>", "<td>", "<tr>", "<select>", "<svg>",
    "<math>", "<img ", "<img src=a>", "<img srcset=a>", "<source srcset='", "<video>", "<script>", "<script",
    "</script", "<style>", "<textarea>", "<title>", "<noscript>", "<iframe>", "<base ", "<base href=a>", "<meta ",
    "<meta charset=", "<link rel=feed href=a>", "<font a=b>", "<form>", "<template>", "<a id=mastodon",
    "<a:b>", "<a:b ",
    "<rss ", "<rss>", "<feed>", "<channel>", "<item>", "</item>", "<item></item>", "<item><title>", "<entry>",
    "<title>a</title>", "<link>a</link>", "<category>a</category>", "<media:group>", "<enclosure url='a'/>",
    "xmlns=", "xmlns:a='", "xmlns:a=' ", "<outline ", "<outline>", "</outline>", "<outline/>", "<outline text='",
    "<outline xmlUrl='http://a/'/>", '{"a":', '{"', "[1,", '"a",', "- ", "- a\n", "a: ", "a:\n ", "&a ", "*a ", "[[",
    "{a: ", "? ", "| ", "# ", "[a]\n", "a.", "a = ", "//", "../", "/./", "/..", "a/", "/a", "%2e", "%2F/", "%", "%00",
    "@a", "a@", "a:a@", "http://", "https://a ", "feed:", "data:", "javascript:", "?a=", "&a=", "?token=", "token=a&",
    "9.", "1:", "1 ", "01 Jan ", "1-", "2026-", "12:", "+0", "(a) ", "a.a", "a. ", "a.\n", "。 ", "a b ", "a-", "a字",
    "字 ", "字,", "a* ", "-a ", "a OR ", "in:title", "in:", "feed:1 ", "label:", '"a" ', "(a ", "((a) ", "NOT ", "#a ",
    "> ", "a > ", "a,", ".a", "#a", "[a=", "[a=b]", "*", "é ", "e\u0301", "\u0301a", "ﬀ", "Å", "ﷺ", "가", "ก", "\u202e",
    "zh;q=0.1,", "Mozilla/", "W/\"a\", ", "gzip,", "a; ", "name=\"", "filename*=", "=?a?q?", "\r\n--x", "--x\r\n",
    "a=1; ", "e30.", "eyJ", "aaaa", "==", "\x1b$B", "\x1b(", "\\u0000", "\\", "\\\"", "charset", "charset=utf-8;",
)
# fmt: on
ENDINGS = ("", "x")
# Openings of something that has an end: code that searches the end of each reads the rest of the text each time. That
# is so fast that it shows in long texts only.
OPENINGS = ("<", "</", "<!--", "<![CDATA[", "<?", "<a ", "<script>", "<title>", "&", '"', "'", "“", "(", "[", ",", " ")
# All pairs of these characters, which some grammar gives a meaning.
PAIRED = tuple("<>&,;:='\"()[]{}/\\|#?!%@-_.*+ \t\n\ra0é字")


def pairs() -> list[str]:
    """Pairs of different characters; `ab` repeated is the same as `ba` repeated."""
    return ["".join(pair) for pair in combinations(PAIRED, 2)]


def repeated(piece: str, length: int, ending: str = "") -> str:
    """The piece repeated to about this many characters."""
    return piece * (length // len(piece)) + ending
