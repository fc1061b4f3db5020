"""Repairs ill-formed XML as far as text alone allows, in linear time."""

import re
from collections.abc import Iterator
from html.entities import html5

from feedmill.collect.parsing.declared_entities import DeclaredEntities, read_declarations
from feedmill.collect.parsing.formats.element_names import LONGEST_NAMESPACE, WELL_KNOWN_PREFIXES

_BEGINNING = re.compile(r"<(?:\?xml|!--|!doctype|(?:[\w.-]{1,20}:)?(?:rss|feed|rdf|channel)\b)", re.IGNORECASE)
_SPACE = re.compile(r"\s*")
_DOCTYPE = re.compile(r"<!doctype[^<>\[]*(\[)?", re.IGNORECASE)
_SUBSET_END = re.compile(r"\]\s*>")
_END = re.compile(r"</(?:[\w.-]{1,20}:)?(?:rss|feed|rdf|channel|entry)\s*>", re.IGNORECASE)
_TAIL = 1000
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_OPAQUE = re.compile(r"<!\[CDATA\[|<!--", re.IGNORECASE)
_REFERENCE = re.compile(
    r"&(?!(?:lt|gt|amp|quot|apos|#[1-9][0-9]{2,3});)"  # most references are these, and valid
    r"(?:#([0-9]{1,8});|#[xX]([0-9a-fA-F]{1,8});|([A-Za-z][A-Za-z0-9]{1,31};))?"
)
_LONE_LESS_THAN = re.compile(r"<(?![A-Za-z_/?\u00c0-\uffff])")
_LONG = f"{{{LONGEST_NAMESPACE + 1},}}"
# The letters come before the lookbehind for their boundary, because that is many times as fast.
_LONG_NAMESPACE = re.compile(rf"""(xmlns(?<=\bxmlns)(?::[\w.-]{{1,40}})?\s*=\s*)(?:"[^"<]{_LONG}"|'[^'<]{_LONG}')""")
_VOID_ELEMENT = re.compile(r"<(br|hr|img|wbr|input|embed)(/|\s[^<>]*+)?>(?:</\1>)?", re.IGNORECASE)
_ROOT = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?(?:rss|feed|rdf|channel)(?=[\s/>])", re.IGNORECASE)
_PREFIX = re.compile(r"<([A-Za-z_][\w.-]{0,40}):[A-Za-z_]")
_DECLARED = re.compile(r"\bxmlns:([\w.-]{1,40})\s*=")
_PREDEFINED = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|&(lt|gt|amp|quot|apos);", re.DOTALL)
_NUMBERS = {"amp": "&#38;", "lt": "&#60;", "gt": "&#62;", "quot": "&#34;", "apos": "&#39;"}
_MAX_PREFIXES = 100


def repair(text: str) -> str:
    """Removes what no XML parser accepts, and replaces what a browser would understand.

    The document type declaration is removed, so that no later parser meets an entity; its entities of plain text are
    replaced.
    """
    subset, text = _split_prologue(text)
    entities = read_declarations(subset)
    text = _without_forbidden(text)  # one at a time, because each step needs memory for two texts
    text = _whole_elements(text)
    text = _repaired(text, entities)
    return _declare_prefixes(text)


def number_references(text: str) -> str:
    """Replaces the five predefined entities by numbers: after the first error lxml's recovery drops named ones."""
    return _PREDEFINED.sub(lambda found: _NUMBERS[found[1]] if found[1] else found[0], text)


def _split_prologue(text: str) -> tuple[str, str]:
    """The internal subset of the document type declaration, and the document without anything before its root."""
    beginning = _BEGINNING.search(text)
    position = _prologue_end(text, beginning.start() if beginning else 0)
    doctype = _DOCTYPE.match(text, position)
    if doctype is None:
        return "", text[position:]
    end = _SUBSET_END.search(text, doctype.end()) if doctype[1] else None
    if end is None:
        return "", text[doctype.end() :].removeprefix(">")
    return text[doctype.end() : end.start()], text[end.end() :]


def _without_forbidden(text: str) -> str:
    return _FORBIDDEN.sub("", text)


def _repaired(text: str, entities: DeclaredEntities) -> str:
    return _join_surrogates("".join(_repaired_parts(text, entities)))


def _whole_elements(text: str) -> str:
    """Removes the element in which a truncated document ends: half a URL is a wrong URL."""
    if _END.search(text, max(0, len(text) - _TAIL)):
        return text
    section = text.rfind("<![CDATA[")
    if section > text.rfind("]]>"):
        text = text[:section]
    last_end = text.rfind(">")
    last_tag = text.rfind("</", 0, max(last_end, 0))
    return text[: text.find(">", last_tag) + 1] if last_tag > 0 else text[: last_end + 1]


def _prologue_end(text: str, position: int) -> int:
    while True:
        position = _space_end(text, position)
        closing = {"<!": "-->", "<?": "?>"}.get(text[position : position + 2], "")
        if not closing or (closing == "-->" and not text.startswith("<!--", position)):
            return position
        end = text.find(closing, position)
        if end < 0:
            return position
        position = end + len(closing)


def _space_end(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _repaired_parts(text: str, entities: DeclaredEntities) -> Iterator[str]:
    """Yields the document, repaired outside of CDATA sections, without comments."""
    position = 0
    endless = set()  # kinds of section that have no end from here on; searching again would take quadratic time
    for opening in _OPAQUE.finditer(text):
        kind = "-->" if opening[0] == "<!--" else "]]>"
        if opening.start() < position or kind in endless:
            continue
        yield _repair_markup(text[position : opening.start()], entities)
        end = text.find(kind, opening.end())
        if end < 0:
            endless.add(kind)
            position = opening.end()
            continue
        if kind == "]]>":
            yield "<![CDATA[" + text[opening.end() : end] + "]]>"
        position = end + 3
    yield _repair_markup(text[position:], entities)


def _repair_markup(text: str, entities: DeclaredEntities) -> str:
    text = entities.expand(text)
    text = _LONE_LESS_THAN.sub("&#60;", text)
    text = _LONG_NAMESPACE.sub(r'\1"urn:too-long"', text)
    text = _VOID_ELEMENT.sub(_closed, text)
    return _REFERENCE.sub(_reference, text).replace("]]>", "]]&#62;")


def _closed(void: re.Match[str]) -> str:
    attributes = (void[2] or "").rstrip().removesuffix("/").rstrip()
    return f"<{void[1]}{attributes}/>"


def _reference(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name is not None:
        return _as_references(html5[name]) if name in html5 else "&#38;" + name
    if decimal is None and hexadecimal is None:
        return "&#38;"
    return _character(int(decimal) if decimal else int(hexadecimal, 16))


def _as_references(characters: str) -> str:
    return "".join(f"&#{ord(character)};" for character in characters)


def _character(code: int) -> str:
    if code > 0x10FFFF or (code < 0x20 and code not in (9, 10, 13)) or code in (0xFFFE, 0xFFFF):
        return ""
    return chr(code) if 0xD800 <= code < 0xE000 else f"&#{code};"


def _join_surrogates(text: str) -> str:
    """Joins surrogate pairs that some feeds write as two references."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _declare_prefixes(text: str) -> str:
    root = _ROOT.search(text)
    if root is None:
        return text
    tag_end = text.find(">", root.end())
    declared = {"xml", "xmlns", *_DECLARED.findall(text, root.end(), max(tag_end, 0))}
    used = set(_PREFIX.findall(text, root.start()))
    missing = sorted(used - declared)[:_MAX_PREFIXES]
    written = "".join(f' xmlns:{prefix}="{_namespace(prefix)}"' for prefix in missing)
    return text[: root.end()] + written + text[root.end() :]


def _namespace(prefix: str) -> str:
    return WELL_KNOWN_PREFIXES.get(prefix.lower(), f"urn:undeclared:{prefix}")
