# cython: language_level=3, boundscheck=False, wraparound=False
"""The tree of a plain document, in less than half of the time that expat takes. Optional: expat reads everything.

Plain means UTF-8, names in ASCII, no document type declaration and no great depth, as most feeds are. What is not
plain, or not well-formed, raises Doubt and is left to expat. What is read here is what expat reads, to the last space.

Strangers wrote these bytes. Python puts a zero behind them and a plain document has no other, so a loop that ends at
whatever it does not know ends there, and who stands on something else may look one byte ahead.
"""

import re
from xml.etree.ElementTree import Element

from cpython.bytes cimport PyBytes_AS_STRING
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdlib cimport free, malloc
from libc.string cimport memchr, memcmp, memcpy

from feedmill.collect.formats.names import LONGEST_NAMESPACE

ctypedef const unsigned char* Bytes

cdef enum:
    MAX_DEPTH = 200
    MAX_ATTRIBUTES = 50
    MAX_PREFIXES = 100
    LONGEST_REFERENCE = 10
    REMEMBERED = 256
    NO_SCOPE = -1
    # Kinds of bytes.
    SPACE = 1
    IN_NAME = 2
    STARTS_NAME = 4

cdef unsigned char KINDS[256]
cdef int _byte
for _byte in range(256):
    KINDS[_byte] = SPACE if _byte in b" \t\n" else IN_NAME if _byte in b"0123456789.-" else 0
    if _byte < 128 and (chr(_byte).isalpha() or _byte == c"_"):
        KINDS[_byte] = IN_NAME | STARTS_NAME

# The XML declaration, and the instructions for browsers that often follow it.
_PROLOGUE = re.compile(
    rb"""(?:<\?xml[ ]version=(["'])1\.0\1(?:[ ]encoding=(["'])[A-Za-z][A-Za-z0-9._-]*\2)?"""
    rb"""(?:[ ]standalone=(["'])(?:yes|no)\3)?[ ]?\?>)?"""
    rb"""(?:[ \n]*<\?xml-stylesheet[ ][\n -=@-~]*\?>){0,9}"""
)
_PREFIXES = {"xml": "http://www.w3.org/XML/1998/namespace"}
_RESERVED = ("http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/")
_NO_ATTRIBUTES = {}


class Doubt(Exception):
    """The document is not plain."""


def read_plainly(bytes utf8 not None):
    """The root of a plain document, or None if it is none."""
    if b"\r" in utf8:  # XML knows one end of a line
        utf8 = utf8.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return _Reader().read(utf8)
    except (Doubt, ValueError):
        return None


cdef struct Name:
    Bytes start  # as written in the document
    Py_ssize_t size
    Py_ssize_t colon  # the length of its prefix, or 0
    int scope  # a number for the prefixes that count for it


cdef class _Reader:
    """One document while it is read."""

    cdef Bytes at, end
    cdef unsigned char* text  # what was read of a text; it has room for all of the document
    cdef Py_ssize_t size
    cdef object root
    cdef object closed  # the element before the text, which is then its tail; None right after a start tag
    cdef list elements  # the open ones, and
    cdef Name names[MAX_DEPTH]  # the names by which they must be closed, with the scope around them
    cdef dict prefixes  # those that count here, and
    cdef list outside  # those of the scopes around this one
    cdef int scope, scopes
    cdef Name remembered[REMEMBERED]
    cdef list full_names  # of those
    cdef dict shared  # each full name once, however many scopes have it

    def __dealloc__(self):
        free(self.text)

    cdef object read(self, bytes document):
        self.at = <Bytes>PyBytes_AS_STRING(document)
        self.end = self.at + len(document)
        check_characters(self.at, self.end)
        self.text = <unsigned char*>malloc(len(document) + 1)
        if self.text is NULL:
            raise MemoryError
        self.elements, self.outside, self.prefixes = [], [], _PREFIXES
        self.full_names, self.shared = [None] * REMEMBERED, {}
        self.at += _PROLOGUE.match(document).end()
        while self.at < self.end:
            if self.at[0] != c"<":
                self.read_text()
            elif self.at[1] == c"/":
                self.read_end()
            elif self.at[1] == c"!":
                self.read_section()
            else:
                self.read_start()
        expect(self.root is not None and not self.elements)
        return self.root

    cdef int read_text(self) except -1:
        cdef Bytes end = find(self.at, self.end, b"<", 1)
        if not self.elements:
            self.skip_space()
            return expect(self.at == self.end or self.at == end)
        expect(end is not NULL and find(self.at, end, b"]]>", 3) is NULL)
        return self.take(end)

    cdef int read_section(self) except -1:
        cdef Bytes end
        if self.passes(b"<![CDATA[", 9):
            end = find(self.at, self.end, b"]]>", 3)
            expect(end is not NULL and len(self.elements) > 0)
            self.copy(end)
        else:  # a comment, after which a text goes on; it has to be UTF-8, too
            expect(self.passes(b"<!--", 4))
            end = find(self.at, self.end, b"--", 2)
            expect(end is not NULL and end[2] == c">")
            PyUnicode_DecodeUTF8(<const char*>self.at, end - self.at, NULL)
        self.at = end + 3
        return 0

    cdef int read_start(self) except -1:
        cdef Name name
        cdef int outside = self.scope
        cdef dict attributes = _NO_ATTRIBUTES
        cdef Py_ssize_t depth = len(self.elements)
        self.end_text()
        self.at += 1
        self.read_name(&name)
        if self.at[0] != c">":
            attributes = self.read_attributes()
        tag = self.full_name(&name, self.scope)
        if depth:
            parent = self.elements[depth - 1]
            element = parent.makeelement(tag, attributes)
            parent.append(element)
        else:
            expect(self.root is None)
            self.root = element = Element(tag, attributes)
        if self.passes(b"/", 1):
            expect(self.passes(b">", 1))
            return self.close(element, outside)
        expect(self.passes(b">", 1) and depth < MAX_DEPTH)
        name.scope = outside
        self.names[depth] = name
        self.elements.append(element)
        self.closed = None
        return 0

    cdef int read_end(self) except -1:
        cdef Name* name
        expect(len(self.elements) > 0)
        self.end_text()
        name = &self.names[len(self.elements) - 1]
        expect(self.passes(b"</", 2) and self.passes(<const char*>name.start, name.size))
        self.skip_space()
        expect(self.passes(b">", 1))
        return self.close(self.elements.pop(), name.scope)

    cdef int close(self, element, int outside) except -1:
        self.closed = element
        if self.scope != outside:
            self.scope = outside
            self.prefixes = self.outside.pop()
        return 0

    # Names and attributes

    cdef int read_name(self, Name* name) except -1:
        name.start, name.colon = self.at, 0
        self.skip_name()
        if self.at[0] == c":":
            name.colon = self.at - name.start
            self.at += 1
            self.skip_name()
        name.size = self.at - name.start
        return 0

    cdef dict read_attributes(self):
        """The attributes in a start tag. Its declarations count at once, for its own name as well."""
        cdef Name names[MAX_ATTRIBUTES]
        cdef Name* name
        cdef Py_ssize_t i
        cdef list values = []
        cdef dict declared = {}, attributes = {}
        while KINDS[self.at[0]] & SPACE:
            self.skip_space()
            if self.at[0] == c">" or self.at[0] == c"/":
                break
            expect(len(values) < MAX_ATTRIBUTES)
            name = &names[len(values)]
            self.read_name(name)
            value = self.read_value()
            if name.size >= 5 and memcmp(name.start, b"xmlns", 5) == 0:
                declare(declared, name, value)
            else:
                values.append(value)
        if declared:
            self.open_scope(declared)
        for i in range(len(values)):  # one without a prefix is in no namespace
            attributes[self.full_name(&names[i], self.scope if names[i].colon else NO_SCOPE)] = values[i]
        expect(len(attributes) == len(values))
        return attributes

    cdef str read_value(self):
        cdef unsigned char quote
        cdef Bytes end
        cdef Py_ssize_t i
        self.skip_space()
        expect(self.passes(b"=", 1))
        self.skip_space()
        quote = self.at[0]
        expect(self.passes(b'"', 1) or self.passes(b"'", 1))
        end = <Bytes>memchr(self.at, quote, self.end - self.at)
        expect(end is not NULL)
        for i in range(end - self.at):
            expect(self.at[i] >= c" " and self.at[i] != c"<")  # the end of a line would have to become a space
        self.take(end)
        self.at += 1
        return self.taken()

    cdef int open_scope(self, dict declared) except -1:
        self.outside.append(self.prefixes)
        self.prefixes = {**self.prefixes, **declared}
        expect(len(self.prefixes) <= MAX_PREFIXES)
        self.scopes += 1
        self.scope = self.scopes
        return 0

    cdef str full_name(self, Name* name, int scope):
        """`namespace}local`, put together only once for most elements of a name."""
        cdef unsigned int place = name.size + scope
        cdef Py_ssize_t i
        cdef Name* known
        for i in range(max(0, name.size - 8), name.size):
            place = place * 31 + name.start[i]
        place = (place ^ place >> 8) % REMEMBERED
        known = &self.remembered[place]
        if known.size != name.size or known.scope != scope or memcmp(known.start, name.start, name.size) != 0:
            self.full_names[place] = self.resolved(name, scope)
            known[0] = name[0]
            known.scope = scope
        return <str>self.full_names[place]

    cdef str resolved(self, Name* name, int scope):
        prefix, colon, local = written(name).rpartition(":")
        namespace = self.prefixes.get(prefix) if scope != NO_SCOPE else None
        expect(namespace is not None or not colon)
        full = local if namespace is None else namespace + "}" + local
        return self.shared.setdefault(full, full)

    # Texts

    cdef int take(self, Bytes end) except -1:
        """Add what stands before `end` to the text, with what references mean."""
        cdef Bytes reference = <Bytes>memchr(self.at, c"&", end - self.at)
        while reference is not NULL:
            self.copy(reference)
            self.take_reference(end)
            reference = <Bytes>memchr(self.at, c"&", end - self.at)
        return self.copy(end)

    cdef int copy(self, Bytes end) except -1:
        expect(self.at == end or self.at[0] & 0xC0 != 0x80)  # no character is put together of two pieces
        memcpy(self.text + self.size, self.at, end - self.at)
        self.size += end - self.at
        self.at = end
        return 0

    cdef int take_reference(self, Bytes end) except -1:
        cdef Bytes name = self.at + 1
        cdef Py_ssize_t size
        end = <Bytes>memchr(name, c";", min(end - name, LONGEST_REFERENCE))
        expect(end is not NULL)
        size = end - name
        self.at = end + 1
        if name[0] == c"#":
            return self.take_number(name + 1, end)
        if size == 2 and name[1] == c"t" and (name[0] == c"l" or name[0] == c"g"):
            return self.put(c"<" if name[0] == c"l" else c">")
        if size == 3 and memcmp(name, b"amp", 3) == 0:
            return self.put(c"&")
        if size == 4 and memcmp(name, b"quot", 4) == 0:
            return self.put(c'"')
        expect(size == 4 and memcmp(name, b"apos", 4) == 0)
        return self.put(c"'")

    cdef int take_number(self, Bytes digits, Bytes end) except -1:
        """Add the character with a number. There is room for no more digits than an unsigned int holds."""
        cdef unsigned int code = 0, base = 10, digit
        if digits[0] == c"x":
            digits, base = digits + 1, 16
        expect(digits < end)
        while digits < end:
            digit = digit_of(digits[0])
            expect(digit < base)
            code, digits = code * base + digit, digits + 1
        expect(is_character(code))
        if code < 0x80:
            return self.put(code)
        if code < 0x800:
            self.put(0xC0 | code >> 6)
        else:
            if code < 0x10000:
                self.put(0xE0 | code >> 12)
            else:
                self.put(0xF0 | code >> 18)
                self.put(0x80 | code >> 12 & 0x3F)
            self.put(0x80 | code >> 6 & 0x3F)
        return self.put(0x80 | code & 0x3F)

    cdef int put(self, unsigned char byte) except -1:
        self.text[self.size] = byte  # a reference is longer than what it means, so there is room
        self.size += 1
        return 0

    cdef str taken(self):
        cdef Py_ssize_t size = self.size
        self.size = 0
        return PyUnicode_DecodeUTF8(<const char*>self.text, size, NULL)

    cdef int end_text(self) except -1:
        if self.size and self.closed is not None:
            self.closed.tail = self.taken()
        elif self.size:
            self.elements[len(self.elements) - 1].text = self.taken()
        return 0

    # Steps

    cdef bint passes(self, const char* mark, Py_ssize_t size) noexcept:
        """Whether a mark is here, which is then behind us."""
        if self.end - self.at < size or memcmp(self.at, mark, size) != 0:
            return False
        self.at += size
        return True

    cdef int skip_name(self) except -1:
        expect(KINDS[self.at[0]] & STARTS_NAME)
        while KINDS[self.at[0]] & IN_NAME:
            self.at += 1
        return 0

    cdef void skip_space(self) noexcept:
        while KINDS[self.at[0]] & SPACE:
            self.at += 1


cdef inline int expect(bint plain) except -1:
    if not plain:
        raise Doubt
    return 0


cdef Bytes find(Bytes at, Bytes end, const char* mark, Py_ssize_t size) noexcept:
    """The first place of a mark before `end`, or NULL."""
    while True:
        at = <Bytes>memchr(at, mark[0], end - at)
        if at is NULL or end - at < size:
            return NULL
        if memcmp(at, mark, size) == 0:
            return at
        at += 1


cdef int check_characters(Bytes at, Bytes end) except -1:
    """Raise Doubt where a character is that XML forbids; what is no UTF-8 will show when it is decoded."""
    cdef Py_ssize_t i
    cdef unsigned char forbidden = 0
    for i in range(end - at):  # without a branch, so that a compiler takes many at once
        forbidden |= (at[i] < 0x20) & (at[i] != c"\t") & (at[i] != c"\n")
    expect(not forbidden)
    at = find(at, end, b"\xef\xbf", 2)
    while at is not NULL:
        expect(at[2] < 0xBE)  # U+FFFE and U+FFFF
        at = find(at + 2, end, b"\xef\xbf", 2)
    return 0


cdef str written(Name* name):
    return (<const char*>name.start)[: name.size].decode("ascii")


cdef int declare(dict declared, Name* name, str namespace) except -1:
    prefix = written(name)[6:]
    expect(name.colon == 5 if prefix else name.size == 5)
    expect(prefix not in declared and not prefix.startswith("xml"))
    expect(0 < len(namespace) <= LONGEST_NAMESPACE and "}" not in namespace and namespace not in _RESERVED)
    declared[prefix] = namespace
    return 0


cdef unsigned int digit_of(unsigned char byte) noexcept:
    """What a digit is worth; more than any if it is none."""
    if c"0" <= byte <= c"9":
        return byte - c"0"
    byte |= 0x20
    return byte - c"a" + 10 if c"a" <= byte <= c"f" else 99


cdef bint is_character(unsigned int code) noexcept:
    """Whether XML allows it; U+FFFE and U+FFFF are as forbidden as halves of a pair."""
    if code < 0x20:
        return code == 0x09 or code == 0x0A or code == 0x0D
    return code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000
