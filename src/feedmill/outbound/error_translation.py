"""Translates errors of aiohttp and of decoding into ours."""

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from feedmill.i18n.connection_errors import connection_message
from feedmill.i18n.messages import Message
from feedmill.outbound.content_encoding import BodyTooLarge, InvalidEncoding, TruncatedBody, UnknownEncoding
from feedmill.outbound.errors import RefusedError, RetryableError

# By the error number of OpenSSL's X509_V_ERR_…
_CERTIFICATE_ERRORS = {
    10: Message("fetch.certificate_expired"),
    18: Message("fetch.certificate_self_signed"),
    19: Message("fetch.certificate_self_signed"),
    62: Message("fetch.certificate_other_host"),
}


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turns every error of a request into `RefusedError` or `RetryableError`."""
    try:
        yield
    except (UnknownEncoding, InvalidEncoding, TruncatedBody, BodyTooLarge) as error:
        raise _of_body(error) from error
    except TimeoutError as error:
        raise RetryableError("timeout", Message("fetch.timeout")) from error
    except aiohttp.ClientConnectorCertificateError as error:
        raise RefusedError("certificate", _certificate_message(error)) from error
    except (aiohttp.InvalidURL, ValueError) as error:
        raise RefusedError("options", Message("fetch.cannot_send", detail=str(error)[:200])) from error
    except (aiohttp.ClientError, OSError) as error:
        raise _of_connection(error) from error


def _of_body(error: Exception) -> RefusedError | RetryableError:
    match error:
        case UnknownEncoding():
            return RefusedError("encoding", Message("fetch.unknown_encoding", detail=str(error)))
        case BodyTooLarge():
            return RefusedError("too_large", Message("fetch.too_large"))
        case TruncatedBody():
            return RetryableError("truncated", Message("fetch.ends_early"))
    return RetryableError("decoding", Message("fetch.bad_encoding", detail=str(error)))


def _of_connection(error: Exception) -> RefusedError | RetryableError:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return RetryableError("dns", Message("fetch.host_not_found"))
        case aiohttp.ClientSSLError():
            return RetryableError("tls", Message("fetch.tls", detail=_tls_reason(error)))
        case aiohttp.ClientHttpProxyError():
            return RetryableError("connect", Message("fetch.proxy_failed", status=error.status))
        case aiohttp.ClientConnectorError():
            return RetryableError("connect", _connection_message(error.os_error))
        case aiohttp.ClientPayloadError():
            return RetryableError("truncated", Message("fetch.wrong_length"))
        case aiohttp.ClientResponseError() if _comes_from(error, LineTooLong):
            return RefusedError("headers", Message("fetch.headers_too_large"))
        case aiohttp.ClientResponseError():
            return RetryableError("protocol", Message("fetch.not_http"))
    return RetryableError("reset", Message("fetch.closed"))


def _comes_from(error: BaseException | None, kind: type[Exception]) -> bool:
    return error is not None and (isinstance(error, kind) or _comes_from(error.__cause__, kind))


def _connection_message(error: OSError) -> Message:
    """Without the addresses and ports that the text of the error names."""
    if known := connection_message(error):
        return known
    if not error.errno:
        return Message("fetch.no_connection")
    return Message("fetch.connection_failed", detail=os.strerror(error.errno))


def _certificate_message(error: aiohttp.ClientConnectorCertificateError) -> Message:
    cause = error.certificate_error
    if not isinstance(cause, ssl.SSLCertVerificationError):
        return Message("fetch.certificate", detail=str(cause)[:200])
    known = _CERTIFICATE_ERRORS.get(cause.verify_code)
    return known or Message("fetch.certificate", detail=cause.verify_message[:200])


def _tls_reason(error: aiohttp.ClientSSLError) -> str:
    """`wrong version number`, without the file and line of OpenSSL."""
    cause = getattr(error, "os_error", None) or error
    return (getattr(cause, "reason", None) or str(cause))[:200].replace("_", " ").lower()
