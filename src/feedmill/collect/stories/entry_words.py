"""Takes the words of an entry that are compared: those of its title, and the first hundreds of its text."""

from typing import Protocol

from feedmill.store.search.tokenizer import words_of_html

MAX_TITLE_WORDS = 32
MAX_TEXT_WORDS = 400
# Characters.
_MAX_TITLE = 600
_MAX_TEXT = 8_000
_FIRST_MARKUP = 8_000
_MAX_MARKUP = 128_000


class WrittenEntry(Protocol):
    """The texts of an entry."""

    @property
    def title(self) -> str | None: ...
    @property
    def summary(self) -> str | None: ...
    @property
    def content_html(self) -> str | None: ...


def title_words(entry: WrittenEntry) -> list[str]:
    """The words of the title, without case, accents and punctuation; pairs of characters in Chinese and the like."""
    return words_of_html((entry.title or "")[:_MAX_TITLE]).split(" ", MAX_TITLE_WORDS)[:MAX_TITLE_WORDS]


def text_words(entry: WrittenEntry) -> list[str]:
    """The first words of the longest text of the entry."""
    markup = _without_aggregator_lines(entry.content_html or entry.summary or "")
    size = _FIRST_MARKUP
    words = _first_words(markup, size)
    # Some feeds write thousands of characters of markup for a few words.
    while len(words) < MAX_TEXT_WORDS and size < min(len(markup), _MAX_MARKUP):
        size *= 4
        words = _first_words(markup, size)
    return words


def _first_words(markup: str, size: int) -> list[str]:
    words = words_of_html(markup[:size])[:_MAX_TEXT]
    return words.split(" ", MAX_TEXT_WORDS)[:MAX_TEXT_WORDS] if words else []


def _without_aggregator_lines(markup: str) -> str:
    """The text without what Hacker News ("Article URL: …") and Reddit ("submitted by … [link]") write of an article."""
    if "Article URL:" in markup[:100]:
        return ""
    if "[link]" in markup[-1000:]:
        return markup[: markup.rfind("submitted by")]
    return markup
