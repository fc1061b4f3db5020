"""Compiles and runs the regular expressions of filters with RE2, whose time is linear in the length of a text.

RE2 is in the extra `feedmill[regex]`. The size of a compiled expression and its memory are limited, so that the worst
expression takes less than a tenth of a second for the longest text. Many of them need a time limit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.optional_imports import MissingExtra, import_by_name

LONGEST_PATTERN = 200
# Instructions of the compiled expression: the factor of the time for a text.
LARGEST_PROGRAM = 500
MAX_MEMORY = 1 << 20


class CompiledRegex(Protocol):
    def search(self, text: bytes) -> object | None:
        """Something if the expression matches anywhere in the text, else None."""


# Whether an expression, by its pattern, matches anywhere in a text.
RegexSearch = Callable[[str, bytes], bool]


class RegexTimeUp(Exception):
    """There is no time left for expressions: whether a condition holds is not known."""


class BadRegex(BadInput):
    """The expression is not valid, or too large."""

    code = "bad_regex"


@lru_cache(maxsize=256)
def compile_regex(pattern: str) -> CompiledRegex:
    """The compiled expression, which ignores case; raises `BadRegex`."""
    if len(pattern) > LONGEST_PATTERN:
        raise BadRegex(Message("bad_condition.long_regex", n=LONGEST_PATTERN))
    engine = _engine()
    options = engine.Options()
    options.case_sensitive, options.never_capture, options.log_errors = False, True, False
    options.dot_nl, options.max_mem = True, MAX_MEMORY
    try:
        # Not `re2.compile`, which keeps the last expressions in a cache of its own.
        compiled = engine._Regexp(pattern, options)
    except engine.error as error:
        raise BadRegex(Message("bad_condition.bad_regex", reason=_reason(error))) from error
    if max(compiled.programsize, compiled.reverseprogramsize) > LARGEST_PROGRAM:
        raise BadRegex(Message("bad_condition.large_regex"))
    found: CompiledRegex = compiled
    return found


def matches_regex(pattern: str, text: bytes) -> bool:
    """Whether the expression matches anywhere in the text; raises `BadRegex`."""
    return compile_regex(pattern).search(text) is not None


@dataclass(slots=True)
class TimedRegexes:
    """Compiled expressions, by pattern, with the seconds that they may take together. The last may take longer."""

    compiled: Mapping[str, CompiledRegex]
    seconds_left: float
    clock: Callable[[], float]

    def matches(self, pattern: str, text: bytes) -> bool:
        """Whether the expression matches anywhere in the text; raises `RegexTimeUp`."""
        if self.seconds_left <= 0:
            raise RegexTimeUp(pattern)
        started = self.clock()
        found = self.compiled[pattern].search(text) is not None
        self.seconds_left -= self.clock() - started
        return found


def _engine() -> Any:
    try:
        return import_by_name("re2")
    except MissingExtra as error:
        raise BadRegex(Message("bad_condition.no_regex")) from error


def _reason(error: Exception) -> str:
    """What RE2 says about an expression, which is bytes."""
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
