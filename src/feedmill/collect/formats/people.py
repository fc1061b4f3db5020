"""Who wrote it: `name (email)` where both are known, else what there is."""

from collections.abc import Iterable

from feedmill.collect.fields import Field
from feedmill.collect.formats.grouping import MAX_SHORT_TEXT, Grouped, group, short_text

_MAX_PEOPLE = 20


def authors(grouped: Grouped, *keys: str) -> str | None:
    """The people under the first of these names that names anyone; a bare address gives way to a name."""
    address = None
    for key in keys:
        people = _people(grouped.get(key, ()))
        if people and ("@" not in people or " " in people):
            return people
        address = address or people
    return address


def _people(fields: Iterable[Field]) -> str | None:
    names = dict.fromkeys(filter(None, map(_person, fields)))
    return ", ".join(list(names)[:_MAX_PEOPLE]) or None


def _person(field: Field) -> str | None:
    _, _, text, children = field
    if not children:
        return text[:MAX_SHORT_TEXT] or None
    parts = group(children)
    name = short_text(parts, "name", "itunes:name", "foaf:name")
    email = short_text(parts, "email", "itunes:email")
    if name and email and email != name:
        return f"{name} ({email})"
    return name or email or short_text(parts, "uri", "url", "homepage")
