"""Who wrote it: `name (email)` where both are known, else what there is."""

from collections.abc import Sequence

from feedmill.collect.fields import NO_FIELDS, Field, Fields
from feedmill.collect.formats.grouping import MAX_SHORT_TEXT, short_text

_MAX_PEOPLE = 20


def authors(fields: Fields, names: Sequence[str]) -> str | None:
    """The people under the first of these names that names anyone; a bare address gives way to a name."""
    plain, rich = fields
    address = None
    for name in names:
        people = _people(fields.get(name)) if name in rich else plain.get(name)
        if people and ("@" not in people or " " in people):
            return people[:MAX_SHORT_TEXT]
        address = address or people
    return address


def _people(fields: Sequence[Field]) -> str | None:
    if len(fields) == 1:
        return _person(fields[0])
    names = dict.fromkeys(filter(None, map(_person, fields)))
    return ", ".join(list(names)[:_MAX_PEOPLE]) or None


def _person(field: Field) -> str | None:
    _, text, children = field
    if text or children is NO_FIELDS:
        return text[:MAX_SHORT_TEXT] or None
    name = short_text(children, "name") or short_text(children, "itunes:name")
    email = short_text(children, "email") or short_text(children, "itunes:email")
    if name and email and email != name:
        return f"{name} ({email})"
    return name or email or short_text(children, "uri") or short_text(children, "url")
