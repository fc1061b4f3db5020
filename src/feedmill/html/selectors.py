"""Parses a subset of CSS selectors and finds the elements that match.

    div.post > p, #content, [role=main] aside

Tags, `.class`, `#id`, `[name]` and `[name=value]`, one inside another (a space) or right inside it (`>`), and commas.
A page is walked once, whatever is asked: each element remembers how far the selectors have come at it and above it.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedmill.errors import BadInput

if TYPE_CHECKING:
    from lxml.html import HtmlElement

LONGEST = 500
MOST_STEPS = 40

_NAME = r"[A-Za-z_\u00a0-\uffff-][\w\u00a0-\uffff-]*"
_PART = re.compile(
    rf"(?P<tag>\*|{_NAME})|\.(?P<class>{_NAME})|\#(?P<id>{_NAME})"
    rf"|\[\s*(?P<attribute>{_NAME})\s*(?:=\s*(?:\"(?P<quoted>[^\"\]]*)\"|(?P<plain>[^\"'\s\]]+))\s*)?\]"
)
_COMBINATOR = re.compile(r"\s*>\s*|\s+")


class BadSelector(BadInput):
    """This is no selector that we know."""

    code = "bad_selector"


@dataclass(frozen=True, slots=True)
class SelectorStep:
    """One element of a chain: what it must be, and how it stands to the one before."""

    tag: str = "*"
    classes: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, str | None], ...] = ()
    is_child: bool = False
    is_first: bool = False
    is_last: bool = False

    def fits(self, element: "HtmlElement") -> bool:
        return (
            self.tag in ("*", element.tag)
            and (not self.classes or self.classes.issubset((element.get("class") or "").split()))
            and all(_has(element, name, value) for name, value in self.attributes)
        )


@dataclass(frozen=True, slots=True)
class Selector:
    """The steps of all its chains, one after the other."""

    steps: tuple[SelectorStep, ...]

    def outermost(self, body: "HtmlElement") -> list["HtmlElement"]:
        """The elements that are meant, without those inside of others that are."""
        found: list[HtmlElement] = []
        # Numbers of steps: reached at the element above, and there or anywhere above it.
        waiting: list[tuple[HtmlElement, frozenset[int], frozenset[int]]] = [(body, frozenset(), frozenset())]
        while waiting:
            element, at_parent, above = waiting.pop()
            reached = frozenset(n for n, step in enumerate(self.steps) if _leads_to(step, n, element, at_parent, above))
            if element is not body and any(self.steps[n].is_last for n in reached):
                found.append(element)
                continue
            children = [child for child in element if isinstance(child.tag, str)]
            waiting += [(child, reached, above | reached) for child in reversed(children)]
        return found


def parse_selector(text: str, field: str | None = None) -> Selector | None:
    """What the text means, None when it is empty; raises `BadSelector`."""
    if not text.strip():
        return None
    if len(text) > LONGEST:
        raise BadSelector(f"a selector has at most {LONGEST} characters", field)
    steps = [step for chain in text.split(",") for step in _chain(chain.strip(), field)]
    if len(steps) > MOST_STEPS:
        raise BadSelector(f"a selector names at most {MOST_STEPS} elements", field)
    return Selector(tuple(steps))


def _leads_to(
    step: SelectorStep, number: int, element: "HtmlElement", at_parent: frozenset[int], above: frozenset[int]
) -> bool:
    follows = step.is_first or number - 1 in (at_parent if step.is_child else above)
    return follows and step.fits(element)


def _has(element: "HtmlElement", name: str, value: str | None) -> bool:
    given = element.get(name)
    return given is not None if value is None else given == value


def _chain(text: str, field: str | None) -> list[SelectorStep]:
    steps: list[SelectorStep] = []
    at, is_child = 0, False
    while True:
        parts, at = _parts(text, at, field)
        link = _COMBINATOR.match(text, at)
        steps.append(_step(parts, is_child=is_child, is_first=not steps, is_last=link is None))
        if link is None and at < len(text):
            raise BadSelector(f"what is meant by {text[at : at + 20]!r} in the selector?", field)
        if link is None:
            return steps
        at, is_child = link.end(), ">" in link[0]


def _parts(text: str, at: int, field: str | None) -> tuple[list[re.Match[str]], int]:
    parts: list[re.Match[str]] = []
    while (part := _PART.match(text, at)) and not (parts and part["tag"]):
        parts.append(part)
        at = part.end()
    if not parts:
        raise BadSelector("an element is missing in the selector", field)
    return parts, at


def _step(parts: list[re.Match[str]], *, is_child: bool, is_first: bool, is_last: bool) -> SelectorStep:
    return SelectorStep(
        tag=next((part["tag"].lower() for part in parts if part["tag"]), "*"),
        classes=frozenset(part["class"] for part in parts if part["class"]),
        attributes=tuple(_attribute(part) for part in parts if part["id"] or part["attribute"]),
        is_child=is_child,
        is_first=is_first,
        is_last=is_last,
    )


def _attribute(part: re.Match[str]) -> tuple[str, str | None]:
    if part["id"]:
        return "id", part["id"]
    value = part["quoted"] if part["quoted"] is not None else part["plain"]
    return part["attribute"].lower(), value
