"""Declares the fields of each form and refuses a form that does not match its declaration.

Every route that changes something declares its fields with `@accepts_form`; `checked_form` checks a request
against them. So a field that is unknown, missing, sent twice or malformed ends the request before anything changes. A
field whose errors are shown beside it on the page is declared as `TEXT`, and its handler checks the value.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import Response

from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.serve.http.csrf import FIELD as CSRF

Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class FormField:
    """`fits` tells whether a value is valid. Browsers send no unticked checkboxes and no unused buttons."""

    fits: Callable[[str], bool]
    is_required: bool = True
    is_repeated: bool = False
    is_file: bool = False

    @property
    def optional(self) -> "FormField":
        return replace(self, is_required=False)

    @property
    def repeated(self) -> "FormField":
        """The same field, which may be sent any number of times, or not at all."""
        return replace(self, is_required=False, is_repeated=True)

    @property
    def or_empty(self) -> "FormField":
        return replace(self, fits=lambda value: not value or self.fits(value))


def matching(pattern: str) -> FormField:
    return FormField(lambda value: re.fullmatch(pattern, value) is not None)


def one_of(*values: str) -> FormField:
    return FormField(lambda value: value in values)


def _any(value: str) -> bool:
    return True


TEXT = FormField(_any)
FILE = FormField(_any, is_required=False, is_file=True)
NUMBER = matching(r"[0-9]{1,15}")
# A checkbox: its value, or nothing.
CHECKBOX = one_of("yes", "").optional
# The page to redirect to. The handler allows only local paths.
NEXT_PATH = TEXT.optional

DECLARED_FORMS: dict[Endpoint, Mapping[str, FormField]] = {}


def accepts_form(fields: Mapping[str, FormField]) -> Callable[[Endpoint], Endpoint]:
    """Declares the fields of the form that an endpoint accepts; the CSRF token is a field of every form."""

    def declare(endpoint: Endpoint) -> Endpoint:
        DECLARED_FORMS[endpoint] = fields
        return endpoint

    return declare


def check_form(sent: FormData, declared: Mapping[str, FormField]) -> None:
    """Raises `BadInput` unless the form has the declared fields, each with a valid value."""
    given = {name for name, _ in sent.multi_items()} - {CSRF}
    for name in sorted(given - declared.keys()):
        raise BadInput(Message("error.unknown_field", name=name[:100]), name[:100])
    for name, field in declared.items():
        _check_field(name, field, sent.getlist(name))


def _check_field(name: str, field: FormField, values: list[UploadFile | str]) -> None:
    if not values and field.is_required:
        raise BadInput(Message("error.missing_field", name=name), name)
    if len(values) > 1 and not field.is_repeated:
        raise BadInput(Message("error.repeated_field", name=name), name)
    if not all(_fits(field, value) for value in values):
        raise BadInput(Message("error.bad_field", name=name), name)


def _fits(field: FormField, value: UploadFile | str) -> bool:
    return field.fits(value) if isinstance(value, str) else field.is_file
