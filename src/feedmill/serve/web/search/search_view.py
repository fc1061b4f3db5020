"""Prepares a search and its results for the templates, with the searched words highlighted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode

from markupsafe import Markup, escape
from msgspec.structs import replace

from feedmill.i18n.dates import DateFormatter
from feedmill.library.entries.list_entries import EntrySummary
from feedmill.library.search.query_hints import terms_of
from feedmill.library.search.query_names import name_term
from feedmill.library.search.run_search import MOST_COUNTED
from feedmill.library.stories.also_in import StoryCopies
from feedmill.model.entry_lists import ListPosition
from feedmill.model.filters.filter_history import FilterEffect
from feedmill.model.search_query import SearchOrder
from feedmill.model.stories.story_copy import StoryCopy
from feedmill.serve.web.entries.article_view import ArticleView, item_path
from feedmill.serve.web.entries.day_headings import day_headings
from feedmill.serve.web.entries.list_views import ViewAddress

PATH = "/search"
# Terms that are offered to narrow a search; their texts are `search.only_<name>`.
NARROWING_TERMS: Mapping[str, str] = {
    "unread": "is:unread",
    "starred": "is:starred",
    "week": "after:-7d",
    "image": "has:image",
    "audio": "has:audio",
}
ALL_VIEW = ViewAddress("all")


class HighlightedText(str):
    """A text whose matches are highlighted when it is rendered as HTML; elsewhere it is plain text."""

    html: Markup

    def __html__(self) -> str:
        return self.html


def highlight(text: str, words: re.Pattern[str] | None) -> str:
    if not text or words is None:
        return text
    made, end = HighlightedText(text), 0
    parts: list[Markup] = []
    for found in words.finditer(text):
        parts += [escape(text[end : found.start()]), Markup("<mark>{}</mark>").format(found[0])]
        end = found.end()
    made.html = Markup("").join([*parts, escape(text[end:])])
    return made


def search_path(text: str, **more: str) -> str:
    return f"{PATH}?{urlencode({'q': text} | {name: value for name, value in more.items() if value})}"


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A feed, folder or label of the user, with its name."""

    address: ViewAddress
    name: str


@dataclass(frozen=True, slots=True)
class SearchForm:
    """A search; `within` limits it to the feed, folder or label that it was started from."""

    text: str
    order: SearchOrder = "rank"
    within: SearchScope | None = None

    @property
    def narrowed(self) -> str:
        """`within` as a term of the search language."""
        if self.within is None:
            return ""
        address = self.within.address
        if address.kind == "feed":
            return f"feed:{address.id}"
        return name_term(address.kind, self.within.name)

    @property
    def whole(self) -> str:
        """The whole search as one query."""
        return f"{self.narrowed} ({self.text})" if self.within else self.text

    @property
    def scope(self) -> str:
        """The path of the feed or folder that it is limited to, to which a filter can be limited too."""
        return self.place if self.within and self.within.address.kind in ("feed", "folder") else ""

    @property
    def place(self) -> str:
        return self.within.address.path if self.within else ""

    def at(self, **changes: str) -> str:
        now = {"text": self.text, "order": "" if self.order == "rank" else self.order, "in": self.place} | changes
        return search_path(**now)

    def terms(self) -> list[tuple[str, str]]:
        """Each term that can be removed, and the URL of the search without it."""
        terms = terms_of(self.text)
        return [
            (term, self.at(text=" ".join(terms[:place] + terms[place + 1 :])))
            for place, term in enumerate(terms)
            if len(terms) > 1
        ]

    def offers(self) -> list[tuple[str, str]]:
        """Each term that could be added to narrow it, and the URL of that search."""
        terms = terms_of(self.text)
        start = self.text if terms else f"({self.text})"
        return [
            (name, self.at(text=f"{start} {term}")) for name, term in NARROWING_TERMS.items() if term not in self.text
        ]


@dataclass(frozen=True, slots=True)
class SearchResults:
    """A page of results, with the attributes of a list.

    `total` is counted for the first page alone, up to `most_counted`; one more stands for any greater number.
    """

    items: Sequence[EntrySummary]
    more: str | None
    is_first: bool
    total: int | None = None
    most_counted: int = MOST_COUNTED
    pictures: Mapping[int, str] = field(default_factory=dict)
    texts: Mapping[int, ArticleView] = field(default_factory=dict)
    # Where the page before ended; None unless the newest come first.
    beyond: ListPosition | None = None
    has_days: bool = False
    earlier: None = None
    opened: None = None
    has_summaries: bool = True
    copies: StoryCopies = field(default_factory=dict)
    # Results have an order of their own, in which nothing is raised.
    raised_by: Mapping[int, FilterEffect] = field(default_factory=dict)

    def headings(self, when: DateFormatter) -> dict[int, str]:
        """The days, if the newest come first."""
        times = ((entry.id, entry.sort_at) for entry in self.items if self.has_days)
        return day_headings(times, when, self.beyond.at if self.beyond else None)

    @staticmethod
    def item(entry: EntrySummary | StoryCopy) -> str:
        return item_path(entry.id, ALL_VIEW)


def highlight_entry(entry: EntrySummary, words: re.Pattern[str] | None) -> EntrySummary:
    return replace(entry, title=highlight(entry.title, words), excerpt=highlight(entry.excerpt, words))
