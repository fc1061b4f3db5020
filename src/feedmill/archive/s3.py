"""Objects in an S3 bucket: Amazon's, R2, MinIO and others.

The client's blocking calls run on our own threads. Its asynchronous calls let a Rust thread call back into Python,
which aborts the process if it is exiting at that moment (docs/decisions/object-client.md).

Each request may take `timeout`, with 5 s to connect; connection errors and 5xx are retried twice, but no retry starts
later than `timeout` after the first attempt. So every call ends within twice the timeout.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from feedmill.archive.blobs import Blob
from feedmill.archive.object_keys import public_image_url
from feedmill.archive.object_paths import folder_of, key_of, path_of
from feedmill.archive.object_store_config import S3Config
from feedmill.errors import BlobError, BlobMissing, BlobUnavailable
from feedmill.i18n.messages import Message

if TYPE_CHECKING:
    from obstore import GetOptions
    from obstore.store import S3Config as StoreConfig
    from obstore.store import S3Credential, S3CredentialProvider

CHUNK_SIZE = 1000
"""Keys in one DeleteObjects request, and objects in one page of a listing: S3's limit for both."""

MAX_URL_LIFETIME = timedelta(days=7)
CONNECT_TIMEOUT = timedelta(seconds=5)
RETRIES = 2
THREADS = 32

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_LOCATION = re.compile(r"location (.+) not found")
_HTTP_ERROR = re.compile(r"HttpError \{\s*kind: (\w+)")
_QUOTED = re.compile(r'"([^"\n]+)"')
_RANGE_NOT_SATISFIABLE = "416"
_TEMPORARY_STATUS = re.compile(r"5\d\d|408|429")

T = TypeVar("T")


class S3Blobs:
    """The object port over a bucket."""

    def __init__(self, config: S3Config) -> None:
        self._config = config
        self._store = _open(config)
        self._threads = ThreadPoolExecutor(THREADS, "s3")

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self._call(_put, self._store, path_of(key), data, content_type)

    async def get(self, key: str, start: int = 0, end: int | None = None) -> bytes:
        return await self._call(_get, self._store, path_of(key), start, end)

    async def list_keys(self, prefix: str) -> AsyncIterator[Blob]:
        pages = obstore.list(self._store, folder_of(prefix) or None, chunk_size=CHUNK_SIZE)
        while (page := await self._call(next, pages, None)) is not None:
            for meta in page:
                key = key_of(meta["path"])
                if key is not None and key.startswith(prefix):
                    yield Blob(key, meta["size"], meta["last_modified"])

    async def delete_many(self, keys: Iterable[str]) -> None:
        paths = map(path_of, keys)
        while chunk := list(islice(paths, CHUNK_SIZE)):
            await self._call(obstore.delete, self._store, chunk)

    async def url(self, key: str, expires: timedelta) -> str | None:
        if public := public_image_url(self._config.images_base_url, key):
            return public
        path = path_of(key)
        if self._config.public_url is not None:
            return "/".join(filter(None, (self._config.public_url, self._config.prefix, quote(path))))
        if not self._config.direct:
            return None
        return await self._call(obstore.sign, self._store, "GET", path, min(expires, MAX_URL_LIFETIME))

    async def _call(self, function: Callable[..., T], *args: object) -> T:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(2 * self._config.timeout.total_seconds()):
                return await loop.run_in_executor(self._threads, function, *args)
        except TimeoutError as error:
            raise BlobUnavailable(Message("objects.no_answer", bucket=self._bucket(), detail="timeout")) from error
        except (BaseError, FileNotFoundError) as error:
            raise self._translate(error) from error

    def _translate(self, error: Exception) -> BlobError:
        status, code = _search(_STATUS, error), _search(_CODE, error)
        if code == "NoSuchKey":  # a 404 alone may mean a missing bucket, or a web server that is not S3
            key = _search(_LOCATION, error) or ""
            return BlobMissing(Message("objects.missing_in", bucket=self._bucket(), key=key))
        if status is None:
            return BlobUnavailable(Message("objects.no_answer", bucket=self._bucket(), detail=_cause(error)))
        kind = BlobUnavailable if _TEMPORARY_STATUS.fullmatch(status) else BlobError
        if code is None:
            return kind(Message("objects.answered", bucket=self._bucket(), status=status))
        return kind(Message("objects.answered_with_code", bucket=self._bucket(), status=status, detail=code))

    def _bucket(self) -> Message:
        bucket, endpoint = self._config.bucket, self._config.endpoint or "Amazon"
        if self._config.access_key:
            return Message("objects.bucket", bucket=bucket, endpoint=endpoint)
        return Message("objects.bucket_without_key", bucket=bucket, endpoint=endpoint)


def _put(store: S3Store, path: str, data: bytes, content_type: str) -> None:
    # Not multipart: an interrupted upload would leave parts that cost money and that no listing shows.
    obstore.put(store, path, data, attributes={"Content-Type": content_type}, use_multipart=False)


def _get(store: S3Store, path: str, start: int, end: int | None) -> bytes:
    if start == 0 and end is None:
        return bytes(obstore.get(store, path).bytes())
    if end is None:
        return _get_range(store, path, {"range": {"offset": start}})
    # S3 has no empty range; requesting one byte still tells whether the object exists.
    return _get_range(store, path, {"range": (start, max(end, start + 1))})[: max(0, end - start)]


def _get_range(store: S3Store, path: str, options: "GetOptions") -> bytes:
    try:
        return bytes(obstore.get(store, path, options=options).bytes())
    except BaseError as error:
        if _search(_STATUS, error) == _RANGE_NOT_SATISFIABLE:
            return b""
        raise


def _open(config: S3Config) -> S3Store:
    return S3Store(
        config.bucket,
        prefix=config.prefix or None,
        config=_store_config(config),
        client_options={
            "allow_http": (config.endpoint or "").startswith("http://"),
            "connect_timeout": min(CONNECT_TIMEOUT, config.timeout),
            "timeout": config.timeout,
        },
        credential_provider=_credentials(config),
        retry_config={"max_retries": RETRIES, "retry_timeout": config.timeout},
    )


def _store_config(config: S3Config) -> "StoreConfig":
    # Set even where it is the default: otherwise AWS_… environment variables would take effect.
    options: StoreConfig = {
        "region": config.region,
        "virtual_hosted_style_request": not config.path_style,
        "skip_signature": False,
    }
    if config.endpoint is not None:
        options["aws_endpoint_url_s3"] = _bucket_endpoint(config.endpoint, config)
    return options


def _bucket_endpoint(endpoint: str, config: S3Config) -> str:
    if config.path_style:
        return endpoint
    scheme, host = endpoint.split("://", 1)
    return f"{scheme}://{config.bucket}.{host}"


def _credentials(config: S3Config) -> "S3CredentialProvider | None":
    # A provider, not options: with options, a session token of the environment would be sent as well.
    keys: S3Credential = {
        "access_key_id": config.access_key,
        "secret_access_key": config.secret_key,
        "expires_at": None,
    }
    return (lambda: keys) if config.access_key else None


def _search(pattern: re.Pattern[str], error: Exception) -> str | None:
    match = pattern.search(str(error))
    return match and match[1]


def _cause(error: Exception) -> str:
    """The innermost reason in the client's long description of a request that got no response."""
    first_line, _, details = str(error).partition("\n")
    if (kind := _HTTP_ERROR.search(details)) is None:
        return first_line
    reasons = _QUOTED.findall(details, kind.end())
    return reasons[-1] if reasons else kind[1].lower()
