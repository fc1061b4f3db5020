"""What goes wrong on the way, in our words: the HTTP library's errors end here."""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from feedmill.model.outcome import RefusedKind, RetryableKind
from feedmill.outbound.encodings import BrokenCoding, CutShort, TooLarge, UnknownCoding


class Rejected(Exception):
    """It breaks a rule of ours, and would again."""

    def __init__(self, kind: RefusedKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: RefusedKind = kind


class Stumbled(Exception):
    """It failed in a way that may pass."""

    def __init__(self, kind: RetryableKind, detail: str) -> None:
        super().__init__(detail)
        self.kind: RetryableKind = kind


@contextmanager
def translated() -> Iterator[None]:
    """Turns whatever the exchange with a server raises into `Rejected` or `Stumbled`."""
    try:
        yield
    except (UnknownCoding, BrokenCoding, CutShort, TooLarge) as error:
        raise _of_body(error) from error
    except TimeoutError as error:
        raise Stumbled("timeout", "the server took too long") from error
    except aiohttp.ClientConnectorCertificateError as error:
        raise Rejected("certificate", f"the certificate is not valid: {_reason(error)}") from error
    except (aiohttp.InvalidURL, ValueError) as error:
        raise Rejected("options", f"the request can't be sent: {error}"[:200]) from error
    except (aiohttp.ClientError, OSError) as error:
        raise _of_connection(error) from error


def _of_body(error: Exception) -> Rejected | Stumbled:
    match error:
        case UnknownCoding():
            return Rejected("encoding", f"the body is in a coding that is not understood: {error}")
        case TooLarge():
            return Rejected("too_large", "the body is larger than allowed")
        case CutShort():
            return Stumbled("truncated", "the body ends too early")
    return Stumbled("decoding", f"the body is not what its coding says: {error}")


def _of_connection(error: Exception) -> Rejected | Stumbled:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return Stumbled("dns", "the host name was not found")
        case aiohttp.ClientSSLError():
            return Stumbled("tls", f"TLS failed: {_reason(error)}")
        case aiohttp.ClientConnectorError() | aiohttp.ClientHttpProxyError():
            return Stumbled("connect", f"no connection: {_reason(error)}")
        case aiohttp.ClientPayloadError():
            return Stumbled("truncated", "the body ends too early, or its length is wrong")
        case aiohttp.ClientResponseError() if _comes_from(error, LineTooLong):
            return Rejected("headers", "the headers are larger than allowed")
        case aiohttp.ClientResponseError():
            return Stumbled("protocol", "the answer is not HTTP")
    return Stumbled("reset", "the server closed the connection")


def _comes_from(error: BaseException | None, kind: type[Exception]) -> bool:
    return error is not None and (isinstance(error, kind) or _comes_from(error.__cause__, kind))


def _reason(error: Exception) -> str:
    cause = getattr(error, "os_error", None) or getattr(error, "certificate_error", None) or error
    return (getattr(cause, "strerror", None) or str(cause))[:200]
