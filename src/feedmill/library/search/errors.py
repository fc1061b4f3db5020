"""Errors of search queries, each with its code."""

from feedmill.errors import BadInput

# What may be wrong with a search, in words for programs; pages have their own for each.
MISTAKES = {
    "too_long": "a search has at most {n} characters",
    "too_many": "a search has at most {n} terms",
    "open_quote": "the quotation mark is not closed",
    "no_value": "something is missing after {field}",
    "no_such_value": "{field} takes one of {values}",
    "closes_nothing": "this parenthesis closes nothing",
    "empty": "there is no word to search for",
    "lone_or": "OR stands between two things to look for",
    "missing": "something is missing here",
    "too_deep": "no more than {n} within each other",
    "open_group": "the parenthesis is not closed",
    "no_language": "a language is a code such as en or zh-CN",
    "short_prefix": "at least {n} letters stand before *",
    "no_date": "a date looks like 2026-01-31, 2026-01, today or -7d",
}


class BadSearch(BadInput):
    """The search text can't be understood; `mistake` is one of `MISTAKES`, `position` is where, counted from 0."""

    code = "bad_search"

    def __init__(self, mistake: str, position: int, **values: str | int) -> None:
        super().__init__(f"{MISTAKES[mistake].format(**values)} (at character {position + 1})", "q")
        self.mistake, self.values = mistake, values
        self.position = position
        self.more = {"position": position}
