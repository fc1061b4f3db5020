"""Puts tables and code of an article into containers that scroll by themselves, also by keyboard.

The HTML must be sanitized: tags are balanced and well-formed, attributes quoted, quotes in them escaped.
"""

import re
from collections.abc import Callable
from html import escape

# Whole tags, so that nothing inside an attribute is taken for one.
_TAG = re.compile(r'<(/?)([a-z][a-z0-9]*)((?:\s+[\w-]+="[^"]*")*)\s*>')
# The class and further attributes of the container, and its label. Code is written from left to right everywhere.
_CONTAINERS = {"table": ("of-table", "", "article.table"), "pre": ("of-code", ' dir="ltr"', "article.code")}


def wrap_wide_elements(html: str, translate: Callable[..., str]) -> str:
    """Returns the HTML with each outermost table and `pre` in a container that can have the focus."""
    depth = 0

    def wrap(tag: re.Match[str]) -> str:
        nonlocal depth
        closing, name, _ = tag.groups()
        if name not in _CONTAINERS:
            return tag[0]
        if closing:
            depth -= 1
            return tag[0] if depth else f"{tag[0]}</div>"
        depth += 1
        return tag[0] if depth > 1 else _container(name, translate) + tag[0]

    return _TAG.sub(wrap, html)


def _container(name: str, translate: Callable[..., str]) -> str:
    kind, more, label = _CONTAINERS[name]
    return f'<div class="scrolls {kind}" role="group" aria-label="{escape(translate(label))}" tabindex="0"{more}>'
