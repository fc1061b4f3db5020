"""Translates errors of aiohttp and of decoding into ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from feedmill.i18n.messages import Message
from feedmill.outbound.content_encoding import BodyTooLarge, InvalidEncoding, TruncatedBody, UnknownEncoding
from feedmill.outbound.errors import RefusedError, RetryableError


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
        raise RefusedError("certificate", Message("fetch.certificate", detail=_reason(error))) from error
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
            return RetryableError("tls", Message("fetch.tls", detail=_reason(error)))
        case aiohttp.ClientConnectorError() | aiohttp.ClientHttpProxyError():
            return RetryableError("connect", Message("fetch.no_connection", detail=_reason(error)))
        case aiohttp.ClientPayloadError():
            return RetryableError("truncated", Message("fetch.wrong_length"))
        case aiohttp.ClientResponseError() if _comes_from(error, LineTooLong):
            return RefusedError("headers", Message("fetch.headers_too_large"))
        case aiohttp.ClientResponseError():
            return RetryableError("protocol", Message("fetch.not_http"))
    return RetryableError("reset", Message("fetch.closed"))


def _comes_from(error: BaseException | None, kind: type[Exception]) -> bool:
    return error is not None and (isinstance(error, kind) or _comes_from(error.__cause__, kind))


def _reason(error: Exception) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    return (getattr(cause, "strerror", None) or str(cause))[:200]
