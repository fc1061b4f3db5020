"""Words, phrases and how they are combined, in the words of each database's own index."""

from collections.abc import Callable

from feedmill.model.search import Condition, Either, Every, Scope, Text, Without

Match = Callable[[Condition], str]

_COLUMNS: dict[Scope, str] = {"title": "title : ", "author": "author : ", "text": "words : ", "any": ""}
_WEIGHTS: dict[Scope, str] = {"title": "A", "author": "B", "text": "D", "any": ""}
_MARKS: dict[Scope, tuple[str, ...]] = {"title": ("tz",), "author": ("az",), "text": ("xz",), "any": ("tz", "az", "xz")}


def is_text(condition: Condition) -> bool:
    """Whether a text index can answer this by itself; it can't list what lacks a word."""
    match condition:
        case Text():
            return True
        case Either(parts):
            return all(map(is_text, parts))
        case Every(parts):
            return any(map(is_text, parts)) and all(is_text(_bare(part)) for part in parts)
        case _:
            return False


def fts5(condition: Condition) -> str:
    """The condition as SQLite's FTS5 takes it."""
    match condition:
        case Text(words, scope, prefix):
            return f'({_COLUMNS[scope]}"{" ".join(words)}"{" *" if prefix else ""})'
        case Either(parts):
            return f"({' OR '.join(map(fts5, parts))})"
        case Every(parts):
            wanted = " AND ".join(fts5(part) for part in parts if not isinstance(part, Without))
            unwanted = "".join(f" NOT {fts5(part.part)}" for part in parts if isinstance(part, Without))
            return f"(({wanted}){unwanted})"
    raise _unknown(condition)


def tsquery(condition: Condition) -> str:
    """The condition as PostgreSQL's to_tsquery takes it."""
    match condition:
        case Text(words, scope, prefix):
            weight = _WEIGHTS[scope]
            last = len(words) - 1
            marks = [f"*{weight}" if prefix and at == last else weight for at in range(len(words))]
            return f"({' <-> '.join(_lexeme(word, mark) for word, mark in zip(words, marks, strict=True))})"
        case Either(parts):
            return f"({' | '.join(map(tsquery, parts))})"
        case Every(parts):
            return f"({' & '.join(map(tsquery, parts))})"
        case Without(part):
            return f"!{tsquery(part)}"
    raise _unknown(condition)


def boolean_mode(condition: Condition) -> str:
    """The condition as MySQL's MATCH … AGAINST takes it in boolean mode."""
    match condition:
        case Text(words, scope, prefix):
            return f"({' '.join(_marked(words, mark, prefix) for mark in _MARKS[scope])})"
        case Either(parts):
            return f"({' '.join(map(boolean_mode, parts))})"
        case Every(parts):
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


def _sign(part: Condition) -> str:
    return "-" if isinstance(part, Without) else "+"


def _bare(part: Condition) -> Condition:
    return part.part if isinstance(part, Without) else part


def _unknown(condition: Condition) -> TypeError:
    return TypeError(f"no text to look for: {condition!r}")
