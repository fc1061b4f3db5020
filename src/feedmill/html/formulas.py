"""The elements and attributes of MathML Core that an article may use.

Without those that lead out of MathML: `annotation-xml`, `maction`, `mglyph` and links. Inside a formula there is no
HTML, so that no parser can take one for the other.
"""

import re
from html import escape

# fmt: off
TOKENS = frozenset({"mi", "mn", "mo", "ms", "mtext"})
"""Elements that contain text. A parser reads tags inside them as HTML, so they contain nothing else here."""
FORMULA_TAGS = TOKENS | {
    "math", "merror", "mfrac", "mmultiscripts", "mover", "mpadded", "mphantom", "mprescripts", "mroot", "mrow",
    "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtr", "munder", "munderover", "semantics",
}
# Older elements, as what they mean in MathML Core.
FORMULA_ALIASES = {"none": "mrow", "menclose": "mrow", "mfenced": "mrow", "mlabeledtr": "mtr"}
ANNOTATIONS = frozenset({"annotation", "annotation-xml"})
"""The formula once more in another language, which no browser shows."""

_COMMON = frozenset({"displaystyle", "mathvariant", "scriptlevel"})
FORMULA_ATTRIBUTES: dict[str, frozenset[str]] = dict.fromkeys(FORMULA_TAGS, _COMMON) | {
    "math": _COMMON | {"display"},
    "mfrac": _COMMON | {"linethickness"},
    "mo": _COMMON | {
        "accent", "fence", "form", "largeop", "lspace", "maxsize", "minsize", "movablelimits", "rspace", "separator",
        "stretchy", "symmetric",
    },
    "mover": _COMMON | {"accent"},
    "mpadded": _COMMON | {"depth", "height", "lspace", "voffset", "width"},
    "mspace": _COMMON | {"depth", "height", "width"},
    "mtd": _COMMON | {"columnspan", "rowspan"},
    "munder": _COMMON | {"accentunder"},
    "munderover": _COMMON | {"accent", "accentunder"},
}
# fmt: on
# A word, or a length. Longer numbers would only break the page.
_VALUE = re.compile(r"[a-z-]{1,30}|[+-]?[0-9]{0,3}(?:\.[0-9]{1,6})?(?:em|ex|px|pt|pc|cm|mm|in|%)?")


class Fence:
    """The brackets and commas of an `mfenced` element, which browsers no longer draw themselves."""

    def __init__(self, found: dict[str, str]) -> None:
        self.opening, self.closing = _operator(found.get("open", "(")), _operator(found.get("close", ")"))
        self._separators = "".join(found.get("separators", ",").split())[:20]
        self._parts = 0

    def before_part(self) -> str:
        """What stands before the next part: nothing before the first. The last separator is repeated."""
        self._parts += 1
        if self._parts == 1:
            return ""
        return _operator(self._separators[min(self._parts - 2, len(self._separators) - 1) :][:1])


def _operator(text: str) -> str:
    return f"<mo>{escape(text[:10])}</mo>" if text.strip() else ""


def safe_formula_value(value: str) -> str | None:
    """The value of an attribute of MathML; None if the attribute must be dropped."""
    return value if value and _VALUE.fullmatch(value) else None
