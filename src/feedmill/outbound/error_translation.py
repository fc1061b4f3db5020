"""Translates errors of aiohttp and of decoding into ours."""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from aiohttp.http_exceptions import LineTooLong

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
        raise RetryableError("timeout", "the server took too long") from error
    except aiohttp.ClientConnectorCertificateError as error:
        raise RefusedError("certificate", f"the certificate is not valid: {_reason(error)}") from error
    except (aiohttp.InvalidURL, ValueError) as error:
        raise RefusedError("options", f"the request can't be sent: {error}"[:200]) from error
    except (aiohttp.ClientError, OSError) as error:
        raise _of_connection(error) from error


def _of_body(error: Exception) -> RefusedError | RetryableError:
    match error:
        case UnknownEncoding():
            return RefusedError("encoding", f"the body is in a coding that is not understood: {error}")
        case BodyTooLarge():
            return RefusedError("too_large", "the body is larger than allowed")
        case TruncatedBody():
            return RetryableError("truncated", "the body ends too early")
    return RetryableError("decoding", f"the body is not what its coding says: {error}")


def _of_connection(error: Exception) -> RefusedError | RetryableError:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return RetryableError("dns", "the host name was not found")
        case aiohttp.ClientSSLError():
            return RetryableError("tls", f"TLS failed: {_reason(error)}")
        case aiohttp.ClientConnectorError() | aiohttp.ClientHttpProxyError():
            return RetryableError("connect", f"no connection: {_reason(error)}")
        case aiohttp.ClientPayloadError():
            return RetryableError("truncated", "the body ends too early, or its length is wrong")
        case aiohttp.ClientResponseError() if _comes_from(error, LineTooLong):
            return RefusedError("headers", "the headers are larger than allowed")
        case aiohttp.ClientResponseError():
            return RetryableError("protocol", "the answer is not HTTP")
    return RetryableError("reset", "the server closed the connection")


def _comes_from(error: BaseException | None, kind: type[Exception]) -> bool:
    return error is not None and (isinstance(error, kind) or _comes_from(error.__cause__, kind))


def _reason(error: Exception) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    return (getattr(cause, "strerror", None) or str(cause))[:200]
