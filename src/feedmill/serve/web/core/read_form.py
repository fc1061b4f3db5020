"""Reads submitted forms: checks origin, CSRF token, size, charset and declared fields."""

import re

from starlette.datastructures import FormData
from starlette.requests import Request

from feedmill.errors import BadInput, TooLarge
from feedmill.i18n.messages import Message
from feedmill.serve.http import csrf
from feedmill.serve.http.body_limits import with_body_limit
from feedmill.serve.web.core.form_fields import DECLARED_FORMS, check_form

MAX_FIELDS = 2000
MAX_FORM_BYTES = 2_000_000

# Other charsets are refused: some Python codecs produce text that no database can store, or raise unusual errors.
_UTF_8 = re.compile(r"(?:(?!charset).)*(?:charset=\"?utf-8\"?\s*(?:;(?:(?!charset).)*)?)?", re.I | re.S)


async def checked_form(request: Request, max_bytes: int = MAX_FORM_BYTES) -> FormData:
    """The form of a request, if it comes from a page of ours and has the fields declared with `@accepts_form`.

    Checks the CSRF token if `signed_in` was called before.
    """
    csrf.refuse_other_sites(request)
    limited = with_body_limit(
        request, max_bytes, TooLarge(Message("error.form_too_large", megabytes=max_bytes // 1_000_000))
    )
    if not _UTF_8.fullmatch(request.headers.get("content-type", "")):
        raise BadInput(Message("error.form_encoding"))
    sent = await limited.form(max_fields=MAX_FIELDS, max_part_size=max_bytes)
    if getattr(request.state, "caller", None) is not None:
        csrf.check_csrf_token(request, form_text(sent, csrf.FIELD))
    # No browser sends NUL, and PostgreSQL can't store it.
    if any("\0" in value for _, value in sent.multi_items() if isinstance(value, str)):
        raise BadInput(Message("error.form_with_nul"))
    if request.query_params:
        raise BadInput(Message("error.form_in_query"))
    check_form(sent, DECLARED_FORMS[request.scope["endpoint"]])
    return sent


def form_text(sent: FormData, name: str) -> str:
    """The text of a field; empty when it was not sent."""
    value = sent.get(name)
    return value if isinstance(value, str) else ""


def read_id(written: str) -> int:
    """An id, or `BadInput`."""
    if not (written.isascii() and written.isdigit() and len(written) < 16):
        raise BadInput(Message("error.not_an_id"))
    return int(written)
