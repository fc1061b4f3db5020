"""Takes the words of an entry that are compared: those of its title, and the first hundreds of its text."""

from typing import Protocol

from feedmill.store.search.tokenizer import words_of_html

MAX_TITLE_WORDS = 32
MAX_TEXT_WORDS = 400
# Characters.
MAX_TITLE = 600
MAX_MARKUP = 50_000
# Read at once: about as much as has all words.
PART = 3_000


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
    return _words((entry.title or "")[:MAX_TITLE])[:MAX_TITLE_WORDS]


def text_words(entry: WrittenEntry) -> list[bytes]:
    """The first words of the longest text of the entry."""
    markup = _without_aggregator_lines(entry.content_html or entry.summary or "")[:MAX_MARKUP]
    words: list[bytes] = []
    position = 0
    while position < len(markup) and len(words) < MAX_TEXT_WORDS:
        end = _end_of_part(markup, position)
        words += _words(markup[position:end])
        position = end
    return words[:MAX_TEXT_WORDS]


def _end_of_part(markup: str, position: int) -> int:
    """Where a part that begins there ends: before a tag, if there is one, so that none is cut."""
    end = position + PART
    if end >= len(markup):
        return len(markup)
    tag = markup.rfind("<", position + 1, end)
    return tag if tag > 0 else end


def _words(markup: str) -> list[bytes]:
    # Words have no surrogates: they are no letters.
    return words_of_html(markup).encode("utf-8", "ignore").split()


def _without_aggregator_lines(markup: str) -> str:
    """The text without what Hacker News ("Article URL: …") and Reddit ("submitted by … [link]") write of an article."""
    if "Article URL:" in markup[:100]:
        return ""
    if "[link]" in markup[-1000:]:
        return markup[: markup.rfind("submitted by")]
    return markup
