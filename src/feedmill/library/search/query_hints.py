"""Lists the terms of a query, the words to highlight, and looser queries to try."""

import re
from collections.abc import Iterator, Sequence

from feedmill.library.search.query_tokens import QueryToken, tokenize
from feedmill.store.search.tokenizer import UNSPACED

MARKED = ("text", "in:title", "in:text")
SIGNS = ("(", ")", "or", "and")
SHORTEST_STEM = 4

_WORDS = re.compile(rf"[{UNSPACED}]+|[^\W_{UNSPACED}]+\*?")
_UNSPACED = re.compile(f"[{UNSPACED}]+")


def terms_of(text: str) -> list[str]:
    """The terms as written, if all of them must match; none if the query has a group or an OR."""
    tokens = tokenize(text)
    if not tokens or any(token.kind in SIGNS for token in tokens):
        return []
    # A sign or a scope belongs to what follows it.
    starts = [
        token.position
        for before, token in zip([None, *tokens], tokens, strict=False)
        if before is None or not _leads(before)
    ]
    return [text[start:end].strip() for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


def _leads(token: QueryToken) -> bool:
    return token.kind == "not" or (token.kind.startswith("in:") and not token.value)


def words_to_highlight(text: str) -> re.Pattern[str] | None:
    """A pattern that matches the words of the query in a title or text; None if the query has no words."""
    words = {word for token in _wanted(tokenize(text)) for word in _WORDS.findall(token.value)}
    found = sorted((_pattern(word) for word in words), key=len, reverse=True)
    return re.compile("|".join(found), re.IGNORECASE) if found else None


def _pattern(word: str) -> str:
    """Matches a whole word or a prefix; in scripts without spaces, anywhere."""
    if _UNSPACED.fullmatch(word):
        return re.escape(word)
    return rf"\b{word[:-1]}\w*" if word.endswith("*") else rf"\b{word}\b"


def _wanted(tokens: Sequence[QueryToken]) -> Iterator[QueryToken]:
    """The text terms that are not negated."""
    depth, refused, is_next_refused = 0, -1, False
    for token in tokens:
        if token.kind == "not":
            is_next_refused = True
            continue
        if token.kind == "(":
            depth += 1
            if is_next_refused and refused < 0:
                refused = depth
        elif token.kind == ")":
            refused = -1 if refused == depth else refused
            depth -= 1
        elif token.kind in MARKED and token.value and not is_next_refused and refused < 0:
            yield token
        if not _leads(token):
            is_next_refused = False


def looser_searches(text: str) -> list[str]:
    """Less strict queries, the most similar first; they may find nothing either."""
    terms = terms_of(text)
    words = [word for token in _wanted(tokenize(text)) for word in token.value.split()]
    without_filters = [term for term in terms if tokenize(term)[-1].kind in MARKED and not term.startswith(("-", "!"))]
    begun = [
        f"{word[:-1]}*" if len(word) > SHORTEST_STEM and word.isascii() and word.isalpha() else word for word in words
    ]
    tried = [" ".join(without_filters), " ".join(words), " ".join(begun), " OR ".join(words), *words]
    return [one for one in dict.fromkeys(tried) if one and one != text.strip()]
