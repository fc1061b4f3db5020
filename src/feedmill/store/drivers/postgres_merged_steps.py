"""Runs independent steps of a batch as one statement, in one round trip instead of one for each and two more."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from feedmill.store.database import Step
from feedmill.store.dialect import Compiled, Compiler, is_independent

_PARAMETER = re.compile(r"\$(\d+)")


class MergedSteps(NamedTuple):
    """Its only row has how many rows each step changed."""

    sql: str
    values: list[Any]


def merge_steps(steps: Sequence[Step], compile_: Compiler) -> MergedSteps | None:
    """The steps as one statement; None if there is one only, or any of them is not independent."""
    if len(steps) < 2 or not all(isinstance(params, Mapping) and is_independent(sql) for sql, params in steps):
        return None
    if len({statement.table for statement, _ in steps}) < len(steps):  # type: ignore[attr-defined]
        # Of two changes of a row in one statement, PostgreSQL ignores one.
        return None
    compiled = [compile_(statement) for statement, _ in steps]
    values = [value for one, (_, params) in zip(compiled, steps, strict=True) for value in _values(one, params)]
    return MergedSteps(_merge(tuple(one.sql for one in compiled)), values)


def _values(compiled: Compiled, params: Any) -> list[Any]:
    return compiled.values(params)


@lru_cache(maxsize=64)
def _merge(statements: tuple[str, ...]) -> str:
    parts, before = list[str](), 0
    for number, sql in enumerate(statements):
        parts.append(f"step_{number} AS ({_renumber(sql, before)} RETURNING 1)")
        before += max((int(place) for place in _PARAMETER.findall(sql)), default=0)
    counts = ", ".join(f"(SELECT count(*) FROM step_{number})" for number in range(len(statements)))  # noqa: S608
    return f"WITH {', '.join(parts)} SELECT {counts}"


def _renumber(sql: str, before: int) -> str:
    return _PARAMETER.sub(lambda found: f"${int(found[1]) + before}", sql)
