"""Form fields of a feed's HTTP options: login, cookie, user agent, proxy and others."""

from starlette.datastructures import FormData

from feedmill.library.subscriptions.http_options import FORM_FIELDS, parse_http_options
from feedmill.serve.web.core.form_fields import CHECKBOX, TEXT
from feedmill.serve.web.core.read_form import form_text

HTTP_OPTION_FIELDS = {f"http_{name}": TEXT for name in FORM_FIELDS} | {"http_any_certificate": CHECKBOX}


def read_http_options(sent: FormData, kept: str | None = None) -> str | None:
    """The HTTP options as they are stored; secrets that were left empty are taken from `kept`."""
    if form_text(sent, "forget"):
        return None
    written = {field: form_text(sent, f"http_{field}").strip() for field in FORM_FIELDS}
    return parse_http_options(written, kept, verify_tls=not form_text(sent, "http_any_certificate"))
