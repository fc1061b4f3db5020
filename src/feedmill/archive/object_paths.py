"""Encodes object keys as paths that every file system and bucket accepts, and back.

A key is any text. An ordinary one (`images/1/ab12cd34/0.png`) is its own path; characters that some store could
mishandle are percent-encoded:

- all letters become lower case ASCII, so that a file system that folds case or accents confuses no two keys; only the
  capitals T and Z after a digit stay (in times), and a `t` or `z` there becomes `%74`, `%7a`;
- a file name contains a dot (`note` becomes `note%.`), a folder name none, so that `a` and `a/b` can both exist;
- no name is empty or starts with a dot, so `..` and `//` are not special and dot files are never keys;
- a name too long for a file system continues in a subfolder (`aaaa%/aaaa`).

Folders and buckets use the same paths: copying one into the other moves the archive.
"""

import re
from urllib.parse import unquote_to_bytes

from feedmill.errors import ObjectKeyTooLong

MAX_NAME_BYTES = 200
"""Bytes of one name; file systems allow 255, some fewer."""

MAX_PATH_BYTES = 900
"""Bytes of a path; S3 allows 1024, and the bucket's prefix needs some of them."""

_ESCAPED = re.compile(r"[^a-zTZ0-9._:-]|(?<![0-9])[TZ]|(?<=[0-9])[tz]|^\.")
_ESCAPED_IN_FOLDER = re.compile(_ESCAPED.pattern + r"|\.")
_PIECE = re.compile(rf"(?:%\.|%..|[^%]){{1,{MAX_NAME_BYTES // 3}}}")
_CONTINUATION = re.compile(r"(?<=[^/])%/")
_EMPTY_FOLDER = "%"
_NO_DOT = "%."


def path_of(key: str) -> str:
    """The path under which the object with this key is stored."""
    path = folder_of(key) + _file_name(key.rpartition("/")[2])
    if len(path) > MAX_PATH_BYTES:
        raise ObjectKeyTooLong(f"the key {key[:40]!r}… is too long to be stored")
    return path


def folder_of(prefix: str) -> str:
    """The folder, with a trailing slash, that contains every key with this prefix; empty for the root."""
    *folders, _ = prefix.split("/")
    return "".join(_folder_name(folder) + "/" for folder in folders)


def key_of(path: str) -> str | None:
    """The key stored under this path; None if the path is not the path of any key."""
    *folders, file = _CONTINUATION.sub("", path).split("/")
    names = ["" if folder == _EMPTY_FOLDER else folder for folder in folders]
    try:
        key = "/".join(_unescape(name) for name in (*names, file.removesuffix(_NO_DOT)))
        return key if path_of(key) == path else None
    except (UnicodeError, ObjectKeyTooLong):
        return None


def _folder_name(name: str) -> str:
    return _cut(_ESCAPED_IN_FOLDER.sub(_escape, name)) or _EMPTY_FOLDER


def _file_name(name: str) -> str:
    escaped = _ESCAPED.sub(_escape, name)
    return _cut(escaped if "." in escaped else escaped + _NO_DOT)


def _escape(match: re.Match[str]) -> str:
    # surrogatepass: a Python string may contain a lone surrogate, and is a key too.
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME_BYTES else "%/".join(_PIECE.findall(name))


def _unescape(name: str) -> str:
    return unquote_to_bytes(name).decode("utf-8", "surrogatepass")
