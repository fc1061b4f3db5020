"""Reads the entities of plain text that a document declares for itself, and replaces the references to them.

An entity that names another one, has markup, is external, or is a parameter of the declaration stays as it is written.
Number, length and total expansion are limited, so a reference can't make a document much larger.
"""

import re
from html.entities import name2codepoint

MAX_ENTITIES = 100
MAX_EXPANSION = 100_000
_LONGEST_VALUE = 1_000
_DECLARATION = re.compile(
    rf"<!ENTITY\s++([^\W\d][\w.-]{{0,63}})\s++(?:\"([^\"<]{{0,{_LONGEST_VALUE}}})\"|'([^'<]{{0,{_LONGEST_VALUE}}})')\s*+>"
)
_REFERENCE = re.compile(r"&([^\W\d][\w.-]{0,63});")
_NUMBER = re.compile(r"&#(?:([0-9]{1,7})|x([0-9a-fA-F]{1,6}));")
_NAMED = re.compile(r"&(lt|gt|amp|quot|apos);")
_NOT_PLAIN = re.compile(r"[&%]#?\w[\w.-]{0,63};")
_CHARACTERS = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKUP = re.compile("[&<>\"']")


class DeclaredEntities:
    """The texts of entities by name. Counts what was inserted; at `MAX_EXPANSION` references stay as written."""

    __slots__ = ("_room", "_texts")

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts
        self._room = MAX_EXPANSION

    def expand(self, text: str) -> str:
        """The text with these entities in place of the references to them."""
        return _REFERENCE.sub(self._replacement, text) if self._texts and "&" in text else text

    def _replacement(self, reference: re.Match[str]) -> str:
        text = self._texts.get(reference[1])
        if text is None or len(text) > self._room:
            return reference[0]
        self._room -= len(text)
        return text


def read_declarations(subset: str) -> DeclaredEntities:
    """The entities that the internal subset of a document type declaration declares; of equal names the first."""
    texts: dict[str, str] = {}
    for name, double_quoted, single_quoted in _DECLARATION.findall(_without_comments(subset)):
        if len(texts) >= MAX_ENTITIES:
            break
        # The entities of HTML 4 keep their meaning, and XML's can't be changed.
        if name not in name2codepoint and name != "apos" and name not in texts:
            text = _plain_text(double_quoted or single_quoted)
            if text is not None:
                texts[name] = _MARKUP.sub(lambda sign: f"&#{ord(sign[0])};", text)
    return DeclaredEntities(texts)


def _plain_text(value: str) -> str | None:
    """The text that the value of a declaration stands for; None if it is not plain.

    XML reads the value twice: numbers become characters in the declaration, which are read again in the document.
    """
    read = _NUMBER.sub(_character, value)
    if "<" in read:
        return None
    read = _NAMED.sub(lambda found: _CHARACTERS[found[1]], _NUMBER.sub(_character, read))
    return None if _NOT_PLAIN.search(read) or _FORBIDDEN.search(read) else read


def _character(number: re.Match[str]) -> str:
    code = int(number[1]) if number[1] else int(number[2], 16)
    return chr(code) if code <= 0x10FFFF else "\0"


def _without_comments(subset: str) -> str:
    parts, position = [], 0
    while (start := subset.find("<!--", position)) >= 0:
        parts.append(subset[position:start])
        end = subset.find("-->", start)
        position = end + 3 if end >= 0 else len(subset)
    return "".join([*parts, subset[position:]])
