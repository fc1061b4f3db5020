"""XML events gathered into fields: (name, attributes, text, children), one list for the feed and one per entry."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from feedmill.collect.formats.names import CONTAINERS, ENTRIES, FRAMES, NEVER_IN_TEXT, Names, feed_root
from feedmill.collect.markup import Markup

Attributes = dict[str, str]
Field = tuple[str, Attributes, str, Sequence["Field"]]

MAX_ENTRIES = 20_000
MAX_FIELDS = 5_000
MAX_PROLOGUE = 100
_NO_FIELDS: Sequence[Field] = ()


class StopReading(Exception):  # noqa: N818
    """Raised inside a parser to stop it: what follows is of no use."""


class _Frame(NamedTuple):
    key: str
    attributes: Attributes
    fields: list[Field]
    depth: int


class FieldReader:
    """Takes the events of one document and calls `on_entry` with each entry as soon as it is complete.

    `start`, `end` and `chunks` (which takes the text) are called for every element, so they do little. Elements that
    a feed leaves unclosed must not swallow the entries after them: an entry always begins anew.
    """

    __slots__ = (
        "_attributes", "_depth", "_fields", "_frame_depth", "_leaf", "_markup", "_names", "_nested", "_on_entry",
        "_open_frames", "chunks", "entry_count", "feed_attributes", "feed_fields", "root", "seen",
    )  # fmt: skip

    def __init__(self, on_entry: Callable[[Attributes, list[Field]], None]) -> None:
        self._on_entry = on_entry
        self._names = Names()
        self._depth = 0
        self._frame_depth = 0
        self._leaf: str | None = None  # the element whose text is being read; "" for one that nobody wants
        self._attributes: Attributes = {}
        self._nested = 0  # how deep inside that element we are
        self._markup: Markup | None = None
        self._open_frames: list[_Frame] = []
        self._fields: list[Field] = []
        self.chunks: list[str] = []
        self.entry_count = 0
        self.feed_fields = self._fields
        self.feed_attributes: list[Attributes] = []  # of the elements around the entries, outermost first
        self.root: tuple[str, Attributes] | None = None
        self.seen: list[str] = []  # elements met before the root of a feed

    def start(self, name: str, attributes: Attributes) -> None:
        self._depth += 1
        if self._leaf is not None:
            self._start_nested(name, attributes)
            return
        key = self._names[name]
        if key in CONTAINERS:
            self._open(key, attributes)
        elif key in FRAMES or self.root is None:
            self._enter(name, attributes)
        else:
            self._leaf = key
            self._attributes = attributes
            self.chunks.clear()

    def end(self, name: str) -> None:
        key = self._leaf
        if key is None:
            if self._depth == self._frame_depth:
                self._close()
        elif self._nested:
            self._end_nested(name)
        else:
            if key and len(self._fields) < MAX_FIELDS:
                self._fields.append((key, self._attributes, self._text(), _NO_FIELDS))
            self._leaf = None
        self._depth -= 1

    def namespaces(self) -> set[str]:
        """The namespaces that the document used."""
        return {name.rpartition("}")[0] for name in self._names}

    def finish(self) -> None:
        """Hand over an entry that the document's end cut short; the text it broke off in is left out."""
        if any(frame.key in ENTRIES for frame in self._open_frames):
            self._close_entry()

    def _text(self) -> str:
        markup = self._markup
        if markup is None:
            return "".join(self.chunks).strip()
        self._markup = None
        markup.text("".join(self.chunks))
        return markup.html_inside_div() if self._attributes.get("type") == "xhtml" else markup.html()

    def _start_nested(self, name: str, attributes: Attributes) -> None:
        if self._names[name] in NEVER_IN_TEXT:
            self._break_off()
            self._depth -= 1
            self.start(name, attributes)
            return
        self._nested += 1
        if self._leaf:
            self._flush().start(name, attributes)

    def _end_nested(self, name: str) -> None:
        self._nested -= 1
        if self._leaf:
            self._flush().end(name)

    def _flush(self) -> Markup:
        if self._markup is None:
            self._markup = Markup()
        self._markup.text("".join(self.chunks))
        self.chunks.clear()
        return self._markup

    def _break_off(self) -> None:
        """End a text that the feed forgot to close."""
        if self._leaf and len(self._fields) < MAX_FIELDS:
            self._fields.append((self._leaf, self._attributes, self._text(), _NO_FIELDS))
        self._leaf, self._nested = None, 0

    def _enter(self, name: str, attributes: Attributes) -> None:
        if self.root is None:
            names = feed_root(name)
            if names is None:
                self._pass_by(name)
                return
            self._names = names
            self.root = (name, attributes)
        self.feed_attributes.append(attributes)

    def _pass_by(self, name: str) -> None:
        self.seen.append(name)
        if len(self.seen) > MAX_PROLOGUE:
            raise StopReading

    def _open(self, key: str, attributes: Attributes) -> None:
        if key in ENTRIES:
            self._close_entry()
            if self.entry_count >= MAX_ENTRIES:
                raise StopReading
            self.entry_count += 1
        self._open_frames.append(_Frame(key, attributes, self._fields, self._frame_depth))
        self._fields = []
        self._frame_depth = self._depth
        self.chunks.clear()

    def _close(self) -> None:
        if not self._open_frames:
            return
        frame, fields = self._open_frames.pop(), self._fields
        self._fields, self._frame_depth = frame.fields, frame.depth
        if frame.key in ENTRIES:
            self._on_entry(frame.attributes, fields)
        elif len(self._fields) < MAX_FIELDS:
            text = "" if fields else "".join(self.chunks).strip()
            self._fields.append((frame.key, frame.attributes, text, fields))

    def _close_entry(self) -> None:
        while any(frame.key in ENTRIES for frame in self._open_frames):
            self._close()
