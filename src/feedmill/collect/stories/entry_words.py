"""Takes the words of an entry that are compared: those of its title, and the first hundreds of its text."""

from typing import NamedTuple, Protocol

from feedmill.model.refresh import IndexedWords
from feedmill.store.search.tokenizer import MAX_LINE, words_of_html

MAX_TITLE_WORDS = 32
MAX_TEXT_WORDS = 400
# Characters of a word, on average. What is longer is cut earlier.
_MAX_WORD = 50


class WrittenEntry(Protocol):
    """The texts of an entry."""

    @property
    def title(self) -> str | None: ...
    @property
    def summary(self) -> str | None: ...
    @property
    def content_html(self) -> str | None: ...


class StoryWords(NamedTuple):
    """Words without case, accents and punctuation; pairs of characters in Chinese and the like."""

    title: list[bytes]
    text: list[bytes]


def read_words(entry: WrittenEntry) -> StoryWords:
    """The first words of the title and of the longest text of the entry."""
    title = words_of_html((entry.title or "")[:MAX_LINE])
    text = words_of_html(_without_aggregator_lines(entry.content_html or entry.summary or ""))
    return StoryWords(_first(title, MAX_TITLE_WORDS), _first(text, MAX_TEXT_WORDS))


def take_words(entry: WrittenEntry, indexed: IndexedWords) -> StoryWords:
    """The same as `read_words`, of an entry whose words are indexed for search."""
    markup = entry.content_html or entry.summary or ""
    written = _without_aggregator_lines(markup)
    text = indexed.text if written is markup else words_of_html(written)
    return StoryWords(_first(indexed.title, MAX_TITLE_WORDS), _first(text, MAX_TEXT_WORDS))


def _first(words: str, most: int) -> list[bytes]:
    # Words have no surrogates: they are no letters.
    return words[: most * _MAX_WORD].encode("utf-8", "ignore").split(None, most)[:most]


def _without_aggregator_lines(markup: str) -> str:
    """The text without what Hacker News ("Article URL: …") and Reddit ("submitted by … [link]") write of an article."""
    if "Article URL:" in markup[:100]:
        return ""
    if "[link]" in markup[-1000:]:
        return markup[: markup.rfind("submitted by")]
    return markup
