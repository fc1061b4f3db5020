"""Turns a Channel Definition Format document, the feeds of Internet Explorer 4, into the elements of RSS and Atom.

CDF has addresses and times in attributes: `<CHANNEL HREF LASTMOD><ITEM HREF LASTMOD><TITLE/><ABSTRACT/>`. In its first
draft (https://www.w3.org/TR/NOTE-CDFsubmit.html) all texts are attributes: `<Title VALUE="…"/>`.
"""

from xml.etree.ElementTree import Element, SubElement

from feedmill.collect.parsing.formats.element_names import XML_BASE, split_name
from feedmill.collect.parsing.xml_tree import attributes_of

CDF = "cdf"
_NAMES = {
    "abstract": "description",
    "publicationdate": "pubdate",
    "lastmod": "updated",
    "introuri": "link",
}
_PROPERTIES = (("href", "link"), ("lastmod", "updated"))
_FRAMES = frozenset({"channel", "item"})


def is_cdf(root: Element) -> bool:
    """Whether a root `channel` is one of CDF and not that of an RSS document without its root."""
    if _local(root) != "channel":
        return False
    is_address_given = not {"href", "lastmod"}.isdisjoint(_lower_attributes(root))
    return is_address_given or any(_local(child) == "abstract" for child in root)


def rewrite_cdf(root: Element) -> None:
    """Rewrites the elements of a CDF document in place."""
    for frame in [element for element in root.iter() if _local(element) in _FRAMES]:
        attributes = _lower_attributes(frame)
        if "base" in attributes:
            frame.set(XML_BASE, attributes["base"])
        if _local(frame) == "channel" and frame is not root:
            frame[:] = [
                child for child in frame if _local(child) in _FRAMES
            ]  # of an inner channel only the items count
            continue
        for child in frame:
            _rewrite_property(child)
        for attribute, name in _PROPERTIES:
            if attribute in attributes:
                SubElement(frame, name).text = attributes[attribute]


def _rewrite_property(element: Element) -> None:
    name, attributes = _local(element), _lower_attributes(element)
    if name == "logo":
        element.tag = "icon" if attributes.get("style", "").lower() == "icon" else "logo"
        element.text = attributes.get("href")
    elif name == "a":
        element.tag, element.text = "link", attributes.get("href")
    elif name not in _FRAMES:
        element.tag = _NAMES.get(name, element.tag)
        element.text = element.text or attributes.get("value")


def _local(element: Element) -> str:
    return split_name(element.tag)[1].lower()


def _lower_attributes(element: Element) -> dict[str, str]:
    return {key.lower(): value for key, value in attributes_of(element).items()}
