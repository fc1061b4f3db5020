"""Parses a subset of CSS selectors and finds the elements that match.

    div.post > p, #content, [role=main] aside

Supports tags, `.class`, `#id`, `[name]` and `[name=value]`, the descendant (space) and child (`>`) combinators, and
commas. A page is walked once, whatever the selector: each element carries the
steps that match at it and above it.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.model.feed_settings import MAX_SELECTOR_LENGTH

if TYPE_CHECKING:
    from lxml.html import HtmlElement

MAX_STEPS = 40

_NAME = r"[A-Za-z_\u00a0-\uffff-][\w\u00a0-\uffff-]*"
_PART = re.compile(
    rf"(?P<tag>\*|{_NAME})|\.(?P<class>{_NAME})|\#(?P<id>{_NAME})"
    rf"|\[\s*(?P<attribute>{_NAME})\s*(?:=\s*(?:\"(?P<quoted>[^\"\]]*)\"|(?P<plain>[^\"'\s\]]+))\s*)?\]"
)
_COMBINATOR = re.compile(r"\s*>\s*|\s+")


class BadSelector(BadInput):
    """The text is not a selector of the supported subset."""

    code = "bad_selector"


@dataclass(frozen=True, slots=True)
class SelectorStep:
    """One compound selector of a chain, and its relation to the one before."""

    tag: str = "*"
    classes: frozenset[str] = frozenset()
    attributes: tuple[tuple[str, str | None], ...] = ()
    is_child: bool = False
    is_first: bool = False
    is_last: bool = False

    def matches(self, element: "HtmlElement") -> bool:
        return (
            self.tag in ("*", element.tag)
            and (not self.classes or self.classes.issubset((element.get("class") or "").split()))
            and all(_has_attribute(element, name, value) for name, value in self.attributes)
        )


@dataclass(frozen=True, slots=True)
class Selector:
    """The steps of all chains, one after the other."""

    steps: tuple[SelectorStep, ...]

    def outermost(self, body: "HtmlElement") -> list["HtmlElement"]:
        """Returns the elements that match, without those inside other matches."""
        found: list[HtmlElement] = []
        # An element, the indexes of the steps matched at its parent, and of those matched at any ancestor.
        stack: list[tuple[HtmlElement, frozenset[int], frozenset[int]]] = [(body, frozenset(), frozenset())]
        while stack:
            element, at_parent, at_ancestors = stack.pop()
            matched = frozenset(
                n for n, step in enumerate(self.steps) if _step_matches(step, n, element, at_parent, at_ancestors)
            )
            if element is not body and any(self.steps[n].is_last for n in matched):
                found.append(element)
                continue
            children = [child for child in element if isinstance(child.tag, str)]
            stack += [(child, matched, at_ancestors | matched) for child in reversed(children)]
        return found


def parse_selector(text: str, field: str | None = None) -> Selector | None:
    """Parses a selector; None when the text is empty. Raises `BadSelector`."""
    if not text.strip():
        return None
    if len(text) > MAX_SELECTOR_LENGTH:
        raise BadSelector(Message("error.selector_too_long", most=MAX_SELECTOR_LENGTH), field)
    steps = [step for chain in text.split(",") for step in _chain(chain.strip(), field)]
    if len(steps) > MAX_STEPS:
        raise BadSelector(Message("error.selector_too_many_steps", most=MAX_STEPS), field)
    return Selector(tuple(steps))


def _step_matches(
    step: SelectorStep, number: int, element: "HtmlElement", at_parent: frozenset[int], at_ancestors: frozenset[int]
) -> bool:
    follows = step.is_first or number - 1 in (at_parent if step.is_child else at_ancestors)
    return follows and step.matches(element)


def _has_attribute(element: "HtmlElement", name: str, value: str | None) -> bool:
    given = element.get(name)
    return given is not None if value is None else given == value


def _chain(text: str, field: str | None) -> list[SelectorStep]:
    steps: list[SelectorStep] = []
    position, is_child = 0, False
    while True:
        parts, position = _parts(text, position, field)
        link = _COMBINATOR.match(text, position)
        steps.append(_step(parts, is_child=is_child, is_first=not steps, is_last=link is None))
        if link is None and position < len(text):
            raise BadSelector(Message("error.selector_syntax", text=text[position : position + 20]), field)
        if link is None:
            return steps
        position, is_child = link.end(), ">" in link[0]


def _parts(text: str, position: int, field: str | None) -> tuple[list[re.Match[str]], int]:
    parts: list[re.Match[str]] = []
    while (part := _PART.match(text, position)) and not (parts and part["tag"]):
        parts.append(part)
        position = part.end()
    if not parts:
        raise BadSelector(Message("error.selector_incomplete"), field)
    return parts, position


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
