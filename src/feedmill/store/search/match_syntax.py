"""Writes words and phrases in each database's full-text syntax: FTS5, tsquery, MySQL boolean mode."""

from collections.abc import Callable

from feedmill.model.search_query import And, Not, Or, SearchCondition, SearchField, TextMatch

Match = Callable[[SearchCondition], str]

_COLUMNS: dict[SearchField, str] = {"title": "title : ", "author": "author : ", "text": "words : ", "any": ""}
_WEIGHTS: dict[SearchField, str] = {"title": "A", "author": "B", "text": "D", "any": ""}
_MARKS: dict[SearchField, tuple[str, ...]] = {
    "title": ("tz",),
    "author": ("az",),
    "text": ("xz",),
    "any": ("tz", "az", "xz"),
}


def is_text(condition: SearchCondition) -> bool:
    """Whether a text index can answer this by itself; it can't list what lacks a word."""
    match condition:
        case TextMatch():
            return True
        case Or(parts):
            return all(map(is_text, parts))
        case And(parts):
            return any(map(is_text, parts)) and all(is_text(_bare(part)) for part in parts)
        case _:
            return False


def fts5(condition: SearchCondition) -> str:
    """The condition as SQLite's FTS5 takes it."""
    match condition:
        case TextMatch(words, scope, prefix):
            return f'({_COLUMNS[scope]}"{" ".join(words)}"{" *" if prefix else ""})'
        case Or(parts):
            return f"({' OR '.join(map(fts5, parts))})"
        case And(parts):
            wanted = " AND ".join(fts5(part) for part in parts if not isinstance(part, Not))
            unwanted = "".join(f" NOT {fts5(part.part)}" for part in parts if isinstance(part, Not))
            return f"(({wanted}){unwanted})"
    raise _unknown(condition)


def tsquery(condition: SearchCondition) -> str:
    """The condition as PostgreSQL's to_tsquery takes it."""
    match condition:
        case TextMatch(words, scope, prefix):
            weight = _WEIGHTS[scope]
            last = len(words) - 1
            marks = [f"*{weight}" if prefix and at == last else weight for at in range(len(words))]
            return f"({' <-> '.join(_lexeme(word, mark) for word, mark in zip(words, marks, strict=True))})"
        case Or(parts):
            return f"({' | '.join(map(tsquery, parts))})"
        case And(parts):
            return f"({' & '.join(map(tsquery, parts))})"
        case Not(part):
            return f"!{tsquery(part)}"
    raise _unknown(condition)


def boolean_mode(condition: SearchCondition) -> str:
    """The condition as MySQL's MATCH … AGAINST takes it in boolean mode."""
    match condition:
        case TextMatch(words, scope, prefix):
            return f"({' '.join(_marked(words, mark, prefix) for mark in _MARKS[scope])})"
        case Or(parts):
            return f"({' '.join(map(boolean_mode, parts))})"
        case And(parts):
            return f"({' '.join(_sign(part) + boolean_mode(_bare(part)) for part in parts)})"
    raise _unknown(condition)


MATCHES: dict[str, Match] = {"sqlite": fts5, "postgresql": tsquery, "mysql": boolean_mode}


def _lexeme(word: str, mark: str) -> str:
    return f"'{word}':{mark}" if mark else f"'{word}'"


def _marked(words: tuple[str, ...], mark: str, prefix: bool) -> str:
    marked = [f"{mark}{word}" for word in words]
    if len(marked) == 1:
        return f"{marked[0]}{'*' if prefix else ''}"
    if not prefix:
        return f'"{" ".join(marked)}"'
    # A phrase can't go on, so these words may stand anywhere.
    return f"({' '.join(f'+{word}' for word in marked)}*)"


def _sign(part: SearchCondition) -> str:
    return "-" if isinstance(part, Not) else "+"


def _bare(part: SearchCondition) -> SearchCondition:
    return part.part if isinstance(part, Not) else part


def _unknown(condition: SearchCondition) -> TypeError:
    return TypeError(f"no text to look for: {condition!r}")
