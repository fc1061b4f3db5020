"""An insert of one row as an insert of as many rows as a JSON list has, for SQLite and D1."""

import re
from functools import lru_cache

WORD = re.compile(r"""'[^']*'|"[^"]*"|\?|[()]|\bVALUES\b|[^'"?()V]+|V""")


@lru_cache(maxsize=1024)
def over_a_list(sql: str) -> str | None:
    """The same insert with its rows from one parameter, a list of lists of values; None if that can't be done."""
    parts = _parts_of_insert(WORD.findall(sql))
    if parts is None:
        return None
    head, row, tail = parts
    if "?" in head + tail or "".join(tail).startswith(",") or _reads_its_own_table("".join(head), "".join(row)):
        return None
    numbers = iter(range(len(row)))
    values = [f"json_extract(listed.value, '$[{next(numbers)}]')" if word == "?" else word for word in row]
    # WHERE true: without it SQLite takes ON CONFLICT for the condition of a join.
    source = " FROM json_each(?) AS listed WHERE true"
    return "".join([*head, "SELECT ", *values, source, *tail])


def _reads_its_own_table(head: str, row: str) -> bool:
    """Whether a row may depend on the rows inserted before it, which it would no longer see."""
    table = head.removeprefix("INSERT INTO ").split()[0].strip('"')
    return bool(re.search(r"\bSELECT\b", row)) and bool(re.search(rf"\b{re.escape(table)}\b", row))


def _parts_of_insert(words: list[str]) -> tuple[list[str], list[str], list[str]] | None:
    """What stands before VALUES, inside its parentheses and after them; None when it is no such insert."""
    if not words or not words[0].startswith("INSERT INTO ") or "VALUES" not in words:
        return None
    values = words.index("VALUES")
    if words[values + 1 : values + 3] != [" ", "("]:
        return None
    depth = 0
    for at in range(values + 2, len(words)):
        depth += {"(": 1, ")": -1}.get(words[at], 0)
        if words[at] == ")" and depth == 0:
            return words[:values], words[values + 3 : at], words[at + 1 :]
    return None
