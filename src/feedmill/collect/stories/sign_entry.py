"""Computes the signature of an entry: the keys to look up entries that may be the same article, and the sketch."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol
from zlib import crc32

from feedmill.collect.stories.article_links import ArticleLinks, LinkedEntry, article_links, media_url
from feedmill.collect.stories.entry_words import StoryWords, WrittenEntry, read_words, take_words
from feedmill.collect.stories.sketch import LINK_KEY, TEXT_KEY, TITLE_KEY, Sketch, encode_sketch, hash_word
from feedmill.collect.stories.word_groups import WordGroups
from feedmill.model.refresh import IndexedWords
from feedmill.model.stories.signature import StorySignature

LEAD_WORDS = 32
# Fewer say nothing, and are often the name of a site or "Read more".
MIN_TEXT_WORDS = 8
# The words of a text among which those of its title are sought.
TOPIC_WORDS = 120
# Characters. A shorter title finds too much: "News".
MIN_TITLE_LENGTH = 10


class SignableEntry(LinkedEntry, WrittenEntry, Protocol):
    """An entry that can be signed; `NewEntry` and `ParsedEntry` are."""


def sign_entries(entries: Sequence[SignableEntry], indexed: Iterable[IndexedWords] = ()) -> list[StorySignature]:
    """The signatures of the entries of one document, in order. A link that several of them share says nothing.

    `indexed` has the indexed words of all of them, or is empty.
    """
    links = [article_links(entry) for entry in entries]
    times = Counter(link for found in links for link in found.all)
    shared = {link for link, count in times.items() if count > 1}
    words = list(map(take_words, entries, indexed)) or list(map(read_words, entries))
    return [_sign(entry, found.without(shared), own) for entry, found, own in zip(entries, links, words, strict=True)]


def sign_entry(entry: SignableEntry) -> StorySignature:
    """The signature of one entry, whose document is not at hand."""
    return _sign(entry, article_links(entry), read_words(entry))


def _sign(entry: SignableEntry, links: ArticleLinks, words: StoryWords) -> StorySignature:
    title, text = words
    title_only = _adds_nothing(text, title)
    if title_only:
        text = title
    joined_title = b" ".join(title)
    title_length = len(joined_title.decode())
    groups = WordGroups(list(map(crc32, text))) if len(text) >= MIN_TEXT_WORDS else None
    keys = [LINK_KEY | _hash(link.encode("utf-8", "replace")) for link in links.all]
    if title_length >= MIN_TITLE_LENGTH:
        keys.append(TITLE_KEY | _hash(joined_title))
    if groups:
        keys += [TEXT_KEY | key for key in groups.lookup_keys()]
    sketch = Sketch(
        keys=tuple(dict.fromkeys(keys)),
        host=_hash_host(links.own_host) if links.own_host else 0,
        title=tuple(map(hash_word, title)),
        title_length=min(title_length, 255),
        title_only=title_only,
        has_media=media_url(entry) is not None,
        text_count=len(text),
        topic=_topic(text, title),
        lead=tuple(map(hash_word, text[:LEAD_WORDS])),
        minima=groups.minima_bytes() if groups else b"",
    )
    return StorySignature(sketch.keys, encode_sketch(sketch))


def _adds_nothing(text: Sequence[bytes], title: Sequence[bytes]) -> bool:
    """Whether the text is missing, a few words, or the title with a few words."""
    extra = len(text) - len(title) if text[: len(title)] == title else len(text)
    return extra < MIN_TEXT_WORDS and bool(title)


def _topic(text: Sequence[bytes], title: Sequence[bytes]) -> int:
    """How much the text is about its title; little for a paywall, a digest, a description of the site."""
    words = {word for word in title if len(word) > 3}
    return 100 * len(words.intersection(text[:TOPIC_WORDS])) // max(len(words), 1)


@lru_cache(maxsize=1000)
def _hash_host(host: str) -> int:
    """Cached: the entries of a feed have mostly the same host."""
    return _hash(host.encode())


def _hash(value: bytes) -> int:
    return int.from_bytes(blake2b(value, digest_size=6).digest())
