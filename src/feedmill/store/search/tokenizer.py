"""Splits text into words and folds them, in the same way for the index and for queries.

Case, width and accents are folded. Text in scripts without spaces (and in Korean) becomes overlapping pairs of
characters, so that any two adjacent characters are found. The result is words of letters and digits, separated by
single spaces, which the tokenizers of all databases split in the same way.
"""

import html
import re
import unicodedata
from array import array
from functools import lru_cache
from urllib.parse import unquote

from feedmill.model.hosts import host_of

# Characters of one entry's text that are indexed. More would exceed the size of a tsvector of PostgreSQL.
MAX_TEXT = 50_000
MAX_HTML = 500_000
MAX_URL = 1_000
MAX_LINE = 2_000
# Characters of a word; a longer one is data. A lexeme of PostgreSQL has at most 2,046 bytes.
MAX_WORD = 500
MAX_HOST = 253
# The prefix of the words of a URL. No text has such words.
URL_WORD = "url0"

# Vowel signs and the like: parts of words, which `\w` does not know.
_MARKS = "".join(chr(code) for code in range(0x0300, 0x1D00) if unicodedata.category(chr(code)).startswith("M"))
_NO_WORD = re.compile(rf"(?:[^\w{_MARKS}]|_)+")
# Accents and vowel points, which users often omit in a query.
_LEFT_OUT = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]+")


def _without_accent(letter: str) -> str:
    plain = unicodedata.normalize("NFKC", _LEFT_OUT.sub("", unicodedata.normalize("NFKD", letter.casefold())))
    return _NO_WORD.sub(" ", plain)


# Han, Kana, Hangul, Bopomofo, Yi; Thai, Lao, Burmese, Khmer.
UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u3096\u3099-\u309a\u309d-\u309f\u30a1-\u30fa"
    "\u30fc-\u31ff\u3400-\u4dbf\u4e00-\ua4cf\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
    "\u0e01-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
)
_RUNS = re.compile(f"[{UNSPACED}]+(?: [{UNSPACED}]+)*")
_SPACES = re.compile(" {2,}")
_BEFORE_A_RUN = re.compile(r" {3}. ")
_SPACE = array("I", " ".encode("utf-32-le"))

# Letters with an accent, and the typographer's spaces, quotes and dashes.
_PLAIN_LETTERS = {
    letter: plain
    for letter in map(chr, (*range(0xA0, 0x250), *range(0x370, 0x460), *range(0x1E00, 0x2070)))
    if (plain := _without_accent(letter)) != letter
}
_LATIN = re.compile(f"[{''.join(_PLAIN_LETTERS)}]")

_MAY_HIDE = re.compile(r"<(?:[sS][cCtT]|[iI][fF]|[nN][oO]|!--)")
_HIDDEN = re.compile(r"<(script|style|iframe|noembed|noframes)\b.*?(?:</\1|\Z)|<!--.*?(?:-->|\Z)", re.I | re.S)
# No "<" inside a tag: thousands of unclosed tags would otherwise each be read to the end of the text.
_WITHIN_A_WORD = re.compile(r"</?(?:[abisuq]|em|font|ins|mark|span|strong|su[bp]|wbr)(?: [^<>]*)?>")
_TAG = re.compile(r"<[a-zA-Z/!?][^<>]*>")
# html.unescape passes the digits to int(), which refuses thousands of them.
_OVERLONG_NUMBER = re.compile(r"&#[0-9]{1000,};?")


def words_of_html(markup: str | None) -> str:
    """The visible words of HTML, as far as they are indexed."""
    return words_of(_text_of(markup[:MAX_HTML])[:MAX_TEXT]) if markup else ""


def visible_text(markup: str) -> str:
    """The text of HTML on one line, as far as its words are indexed."""
    return " ".join(_text_of(markup[:MAX_HTML])[:MAX_TEXT].split())


def words_of(text: str | None) -> str:
    """The words of a plain text."""
    plain = fold_text(text)
    return _without_long_words(plain if plain.isascii() else _SPACES.sub(" ", _RUNS.sub(_pairs, plain)).strip())


def _without_long_words(words: str) -> str:
    # A word that is too long fills one of the blocks of half its length.
    half = MAX_WORD // 2
    if all(words.find(" ", start, start + half) >= 0 for start in range(0, len(words) - half + 1, half)):
        return words
    return " ".join(word for word in words.split() if len(word) <= MAX_WORD)


def fold_text(text: str | None) -> str:
    """The text without differences of case, width, accents and punctuation."""
    if not text:
        return ""
    plain = _plain_by_pages(text)
    return _plain_in_any_script(text) if plain is None else plain


def _plain_by_pages(text: str) -> str | None:
    """`fold_text`, several times as fast, for a text that one code page can encode; else None."""
    # The only letter of these pages that becomes two.
    text = text.replace("ß", "ss")
    for page, plain in _PAGES.items():
        try:
            letters = text.encode(page).translate(plain)
        except UnicodeEncodeError:
            continue
        return None if _TAKES_MORE in letters else b" ".join(letters.split()).decode(page)
    return None


def _plain_in_any_script(text: str) -> str:
    return _folded(_LATIN.sub(_plain_letter, text.casefold())).strip()


def _folded(text: str) -> str:
    """The words of any script, separated by single spaces, without accents."""
    plain = _NO_WORD.sub(" ", text)
    if not unicodedata.is_normalized("NFKC", plain):
        plain = _NO_WORD.sub(" ", unicodedata.normalize("NFKC", plain).casefold())
        plain = _LATIN.sub(_plain_letter, plain)
    plain = _LEFT_OUT.sub("", plain)
    # An accent that stood alone leaves the spaces beside it.
    return _SPACES.sub(" ", plain) if "  " in plain else plain


def _text_of(markup: str) -> str:
    """The text of HTML, roughly: fast enough for every entry, good enough for searching."""
    if "<" in markup:
        if _MAY_HIDE.search(markup):
            markup = _HIDDEN.sub(" ", markup)
        markup = _TAG.sub(" ", _WITHIN_A_WORD.sub("", markup))
    return html.unescape(_OVERLONG_NUMBER.sub(" ", markup)) if "&" in markup else markup


def _plain_letter(letter: re.Match[str]) -> str:
    return _PLAIN_LETTERS[letter[0]]


def _plain_bytes(page: str) -> bytes:
    """The translation table of a code page: each character becomes another one of the page, or a space."""
    return b"".join(_plain_byte(bytes([code]), page) for code in range(256))


def _plain_byte(byte: bytes, page: str) -> bytes:
    plain = _plain_in_any_script(byte.decode(page, "ignore")) or " "
    encoded = plain.encode(page, "ignore")
    return encoded if len(plain) == len(encoded) == 1 else _TAKES_MORE


# Marks a character that becomes several, or one of another page.
_TAKES_MORE = b"\x00"
# The alphabets of Europe, the commonest first.
_PAGES = {page: _plain_bytes(page) for page in ("latin-1", "cp1252", "cp1251", "cp1250", "cp1254", "cp1253")}


def _pairs(runs: re.Match[str]) -> str:
    """Runs of characters as overlapping pairs; the last character of a run also stands alone."""
    characters = array("I", runs[0].encode("utf-32-le"))
    paired = _SPACE * (3 * len(characters))
    paired[0::3] = characters
    paired[1:-2:3] = characters[1:]
    # Removes pairs of a space and the first character of the next run.
    return f" {_BEFORE_A_RUN.sub(' ', paired.tobytes().decode('utf-32-le'))}"


def words_of_url(url: str | None) -> str:
    """The words of a URL, each with a prefix, and its host with all parent domains."""
    if not url:
        return ""
    words = words_of(unquote(url)[:MAX_URL]).split()
    return " ".join([*map(URL_WORD.__add__, words), *_sites(host_of(url))])


def site_word(host: str) -> str:
    """The word that finds every URL at a host or its subdomains."""
    return f"site0{words_of(host.replace('.', '0').replace('-', '')).replace(' ', '')}"


@lru_cache(maxsize=1000)
def _sites(host: str) -> list[str]:
    """The words of a host and its parent domains. Cached: most entries of a feed have the same host."""
    labels = host.split(".") if len(host) <= MAX_HOST else []
    return [site_word(".".join(labels[first:])) for first in range(len(labels) - 1)]


def query_words(text: str) -> tuple[tuple[str, ...], bool]:
    """The words of a phrase, and whether the last one is a prefix."""
    words = words_of(text).split()
    if not words or not _RUNS.fullmatch(words[-1]) or len(words[-1]) > 1:
        return tuple(words), False
    # A single character is a prefix of pairs. The last one of a longer run is part of a pair already.
    ends_a_run = len(words) > 1 and len(words[-2]) == 2 and words[-2][1] == words[-1]
    return (tuple(words[:-1]), False) if ends_a_run else (tuple(words), True)
