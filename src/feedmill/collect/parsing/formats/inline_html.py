"""Writes the XML elements inside a text element back as HTML."""

from collections.abc import Iterator
from html import escape
from xml.etree.ElementTree import Element

from feedmill.collect.parsing.formats.element_names import XHTML, is_feed_namespace, split_name
from feedmill.collect.parsing.xml_tree import attributes_of

_VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    }
)
_ATTRIBUTE_PREFIXES = {
    "http://www.w3.org/XML/1998/namespace": "xml:",
    "http://www.w3.org/1999/xlink": "xlink:",
}


def inner_html(element: Element, *, escaped: bool, until: Element | None = None) -> str:
    """The content of an element as HTML.

    `escaped` means that the texts between the elements are HTML already. The HTML ends before `until`.
    """
    return "".join(_pieces(element, escaped, until)).strip()


def unwrap_div(element: Element) -> Element:
    """The single outer div, which Atom requires and does not count as content; else the element itself."""
    if len(element) != 1 or (element.text or "").strip() or (element[0].tail or "").strip():
        return element
    return element[0] if split_name(element[0].tag)[1] == "div" else element


def _pieces(element: Element, escaped: bool, until: Element | None) -> Iterator[str]:
    """Walks without recursion: a document may be deeper than Python's stack."""
    yield _text(element.text, escaped)
    stack = [(element, iter(element), "")]
    while stack:
        parent, children, parent_end = stack[-1]
        for node in children:
            if node is until:
                return
            start_tag, end_tag = _tags(node, parent)
            yield start_tag
            yield _text(node.text, escaped)
            if len(node):
                stack.append((node, iter(node), end_tag))
                break
            yield end_tag
            yield _text(node.tail, escaped)
        else:
            stack.pop()
            if stack:
                yield parent_end
                yield _text(parent.tail, escaped)


def _text(text: str | None, escaped: bool) -> str:
    return "" if not text else text if escaped else escape(text, quote=False)


def _tags(node: Element, parent: Element) -> tuple[str, str]:
    """The start tag and end tag of an element."""
    namespace, local = split_name(node.tag)
    attributes = _attributes(node) if node.keys() else ""
    if not _is_html(namespace) and split_name(parent.tag)[0] != namespace:
        attributes += f' xmlns="{escape(namespace)}"'
    return (f"<{local}{attributes} />", "") if local in _VOID else (f"<{local}{attributes}>", f"</{local}>")


def _attributes(node: Element) -> str:
    return "".join([f' {_attribute_name(key)}="{escape(value)}"' for key, value in attributes_of(node).items()])


def _is_html(namespace: str) -> bool:
    return not namespace or namespace == XHTML or is_feed_namespace(namespace)


def _attribute_name(key: str) -> str:
    if "}" not in key:
        return key
    namespace, local = split_name(key)
    return _ATTRIBUTE_PREFIXES.get(namespace, "") + local
