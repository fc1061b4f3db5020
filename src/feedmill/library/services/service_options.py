"""The options of a service: read from a form or the API, checked, encrypted; what is shown of them."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import msgspec

from feedmill.encryption import Encryption
from feedmill.errors import BadInput
from feedmill.i18n.messages import Message
from feedmill.library.services.template_request import check_template
from feedmill.model.encrypted import Encrypted
from feedmill.model.services.save_service import (
    MAX_OPTION_LENGTH,
    SERVICE_FIELDS,
    ServiceField,
    ServiceKind,
    ServiceOptions,
)
from feedmill.outbound.user_urls import parse_url_without_login

# Ties an encrypted value to its column.
ENCRYPTION_PURPOSE = "services.options"

_LINE = re.compile(r"[^\x00-\x1f\x7f]*")
_TOKEN = re.compile(r"[\x21-\x7e]*")
_NUMBER = re.compile(r"-?[0-9]{1,15}|")
NO_OPTIONS = ServiceOptions()
# What may have several lines.
_TEXTS = frozenset({"headers", "body"})


@dataclass(frozen=True, slots=True)
class ShownOptions:
    """`values` are the options that open nothing, `kept` names the secrets that are stored."""

    values: Mapping[str, str]
    kept: frozenset[str]


def parse_options(kind: ServiceKind, written: Mapping[str, str], stored: ServiceOptions = NO_OPTIONS) -> ServiceOptions:
    """The options as they were written. A secret that is left empty stays; `BadInput` names the field that is wrong.

    A secret is for the address that it was entered with: at another address it must be entered again.
    """
    fields = SERVICE_FIELDS[kind]
    values = {each.name: written.get(each.name, "").strip() or each.default for each in fields}
    for each in fields:
        _check_text(each.name, values[each.name])
    options = _normalized(kind, ServiceOptions(**values))
    if options.address == stored.address:
        options = _with_stored_secrets(fields, options, stored)
    for each in fields:
        if each.is_required and not getattr(options, each.name):
            raise BadInput(Message("service.missing_option"), each.name)
    if kind is ServiceKind.TEMPLATE:
        check_template(options)
    return options


def show_options(kind: ServiceKind, options: ServiceOptions) -> ShownOptions:
    fields = SERVICE_FIELDS[kind]
    return ShownOptions(
        {each.name: getattr(options, each.name) for each in fields if not each.is_secret},
        frozenset(each.name for each in fields if each.is_secret and getattr(options, each.name)),
    )


def encrypt_options(encryption: Encryption, options: ServiceOptions) -> Encrypted:
    return encryption.encrypt(msgspec.json.encode(asdict(options)).decode(), ENCRYPTION_PURPOSE)


def decrypt_options(encryption: Encryption, encrypted: Encrypted) -> ServiceOptions:
    """Raises `UnreadableSecret` when the key is missing or another one."""
    return msgspec.json.decode(encryption.decrypt(encrypted, ENCRYPTION_PURPOSE), type=ServiceOptions)


def _check_text(name: str, text: str) -> None:
    if len(text) > MAX_OPTION_LENGTH:
        raise BadInput(Message("service.option_too_long", n=MAX_OPTION_LENGTH), name)
    if name == "collection" and not _NUMBER.fullmatch(text):
        raise BadInput(Message("service.bad_collection"), name)
    if name == "token" and not _TOKEN.fullmatch(text):
        raise BadInput(Message("service.bad_token"), name)
    if name not in _TEXTS and not _LINE.fullmatch(text):
        raise BadInput(Message("service.control_characters"), name)


def _normalized(kind: ServiceKind, options: ServiceOptions) -> ServiceOptions:
    """With the one form of the address; that of a template may have placeholders and stays as it is written."""
    if kind is ServiceKind.TEMPLATE or not options.address:
        return options
    try:
        return replace(options, address=parse_url_without_login(options.address))
    except BadInput as error:
        raise BadInput(error.message, "address") from error


def _with_stored_secrets(
    fields: tuple[ServiceField, ...], options: ServiceOptions, stored: ServiceOptions
) -> ServiceOptions:
    kept = {each.name: getattr(options, each.name) or getattr(stored, each.name) for each in fields if each.is_secret}
    return replace(options, **kept)
