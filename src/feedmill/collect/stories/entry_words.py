"""Takes the words of an entry that are compared: those of its title, and the first hundreds of its text."""

from typing import Protocol

from feedmill.store.search.tokenizer import words_of_html

MAX_TITLE_WORDS = 32
MAX_TEXT_WORDS = 400
# Characters.
MAX_TITLE = 600
FIRST_MARKUP = 4_000
MAX_MARKUP = 50_000


class WrittenEntry(Protocol):
    """The texts of an entry."""

    @property
    def title(self) -> str | None: ...
    @property
    def summary(self) -> str | None: ...
    @property
    def content_html(self) -> str | None: ...


def title_words(entry: WrittenEntry) -> list[bytes]:
    """The words of the title, without case, accents and punctuation; pairs of characters in Chinese and the like."""
    return _first_words((entry.title or "")[:MAX_TITLE], MAX_TITLE, MAX_TITLE_WORDS)


def text_words(entry: WrittenEntry) -> list[bytes]:
    """The first words of the longest text of the entry."""
    markup = _without_aggregator_lines(entry.content_html or entry.summary or "")
    words = _first_words(markup, FIRST_MARKUP, MAX_TEXT_WORDS)
    if len(words) < MAX_TEXT_WORDS and len(markup) > FIRST_MARKUP:
        # About as much markup as has all the words: some feeds write thousands of characters for a few.
        needed = FIRST_MARKUP * MAX_TEXT_WORDS // max(len(words), 1) * 5 // 4
        words = _first_words(markup, min(needed, MAX_MARKUP), MAX_TEXT_WORDS)
    return words


def _first_words(markup: str, size: int, count: int) -> list[bytes]:
    # Words have no surrogates: they are no letters.
    return words_of_html(markup[:size]).encode("utf-8", "ignore").split(maxsplit=count)[:count]


def _without_aggregator_lines(markup: str) -> str:
    """The text without what Hacker News ("Article URL: …") and Reddit ("submitted by … [link]") write of an article."""
    if "Article URL:" in markup[:100]:
        return ""
    if "[link]" in markup[-1000:]:
        return markup[: markup.rfind("submitted by")]
    return markup
