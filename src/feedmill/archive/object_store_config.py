"""Parses the `objects` setting: a folder, or `s3://bucket/prefix?…`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from feedmill.errors import BadSetting

S3_OPTIONS = ("endpoint", "region", "path_style", "public_url", "direct")
MAX_PREFIX_LENGTH = 100
_YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class FolderConfig:
    """Objects are files in a folder."""

    folder: Path
    images_base_url: str = ""


@dataclass(frozen=True, slots=True)
class S3Config:
    """Objects are in an S3 bucket.

    Without an endpoint it is Amazon's; without keys, the client uses those of the environment or of the machine's
    role. Browsers fetch objects from `public_url` (the root of the bucket) if there is one, else by signed URLs;
    `direct` is False where they can't reach the bucket at all. Images are at `images_base_url`, if that is set.
    """

    bucket: str
    prefix: str = ""
    endpoint: str | None = None
    region: str = "us-east-1"
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    path_style: bool = True
    public_url: str | None = None
    direct: bool = True
    timeout: timedelta = timedelta(seconds=30)
    images_base_url: str = ""


def parse_objects_url(
    text: str, access_key: str = "", secret_key: str = "", images_base_url: str = ""
) -> FolderConfig | S3Config:
    """Parses the `objects` setting; the access keys and `images_base_url` are separate settings."""
    if not text.strip():
        raise BadSetting("objects: give a folder or s3://bucket/prefix")
    if "://" not in text:
        return FolderConfig(Path(text).expanduser(), images_base_url)
    if not text.startswith("s3://"):
        raise BadSetting(f"objects: {text.partition('://')[0]}:// is not supported; give a folder or s3://…")
    return replace(_parse_s3(_split(text), access_key, secret_key), images_base_url=images_base_url)


def _split(text: str) -> SplitResult:
    try:
        return urlsplit(text)
    except ValueError as error:
        raise BadSetting(f"objects: not a URL ({error})") from error


def _parse_s3(url: SplitResult, access_key: str, secret_key: str) -> S3Config:
    if "@" in url.netloc:
        raise BadSetting("objects: keys don't belong in the URL; set s3_access_key and s3_secret_key")
    if not url.netloc or ":" in url.netloc:
        raise BadSetting("objects: s3:// needs a bucket, as in s3://bucket/prefix?endpoint=https://…")
    if bool(access_key) != bool(secret_key):
        raise BadSetting("objects: s3_access_key and s3_secret_key go together; one of them is empty")
    options = _options(url.query)
    return S3Config(
        bucket=url.netloc,
        prefix=_prefix(url.path),
        endpoint=_web_url("endpoint", options.get("endpoint")),
        region=options.get("region") or "us-east-1",
        access_key=access_key,
        secret_key=secret_key,
        path_style=_boolean("path_style", options),
        public_url=_web_url("public_url", options.get("public_url")),
        direct=_boolean("direct", options),
    )


def _options(query: str) -> Mapping[str, str]:
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = ", ".join(sorted(options.keys() - set(S3_OPTIONS)))
    if unknown:
        raise BadSetting(f"objects: unknown option {unknown}; s3:// takes {', '.join(S3_OPTIONS)}")
    return options


def _prefix(path: str) -> str:
    prefix = unquote(path).strip("/")
    if any(name in ("", ".", "..") for name in prefix.split("/")) and prefix:
        raise BadSetting(f"objects: {prefix!r} is not a valid prefix for keys")
    if not prefix.isascii() or not prefix.isprintable() or "\\" in prefix or len(prefix) > MAX_PREFIX_LENGTH:
        raise BadSetting(f"objects: a prefix is at most {MAX_PREFIX_LENGTH} plain ASCII characters")
    return prefix


def _web_url(option: str, text: str | None) -> str | None:
    if not text:
        return None
    url = _split(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise BadSetting(f"objects: {option} must start with http:// or https:// and name a host")
    if url.username is not None or url.query or url.fragment:
        raise BadSetting(f"objects: {option} must be a plain address, without user, query or fragment")
    return text.rstrip("/")


def _boolean(option: str, options: Mapping[str, str]) -> bool:
    answer = options.get(option, "yes")
    if answer not in _YES_NO:
        raise BadSetting(f"objects: {option} is yes or no, not {answer!r}")
    return _YES_NO[answer]
