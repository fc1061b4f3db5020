"""Encodes object keys as paths that every file system and bucket accepts, and back.

A key is any text. An ordinary one (`images/1/ab12cd34/0.png`) is its own path; what some store could trip
over is percent-encoded:

- letters end up as lower case ASCII, so a file system that folds case or accents mixes nothing up; of the
  capitals the T and Z after a digit stay (times), and a `t` or `z` there becomes `%74`, `%7a`;
- a file name has a dot (`note` becomes `note%.`), a folder name has none: `a` and `a/b` live side by side;
- no name is empty or starts with a dot, so `..` and `//` lead nowhere and dot files are never keys;
- a name too long for a file system goes on in the next folder (`aaaa%/aaaa`).

Folder and bucket share the spelling: copying one into the other moves the archive.
"""

import re
from urllib.parse import unquote_to_bytes

from feedmill.errors import ObjectKeyTooLong

MAX_NAME_BYTES = 200
"""Bytes of one name; file systems end at 255, some below."""

MAX_PATH_BYTES = 900
"""Bytes of a path; S3 ends at 1024, and a bucket's prefix needs some of them."""

_ODD = re.compile(r"[^a-zTZ0-9._:-]|(?<![0-9])[TZ]|(?<=[0-9])[tz]|^\.")
_ODD_IN_FOLDER = re.compile(_ODD.pattern + r"|\.")
_PIECE = re.compile(rf"(?:%\.|%..|[^%]){{1,{MAX_NAME_BYTES // 3}}}")
_GOES_ON = re.compile(r"(?<=[^/])%/")
_EMPTY_FOLDER = "%"
_NO_DOT = "%."


def path_of(key: str) -> str:
    """The path that the object with this key is stored under."""
    path = folder_of(key) + _file_name(key.rpartition("/")[2])
    if len(path) > MAX_PATH_BYTES:
        raise ObjectKeyTooLong(f"the key {key[:40]!r}… is too long to be stored")
    return path


def folder_of(prefix: str) -> str:
    """The folder, with a slash at its end, that holds every key with this prefix; empty for the top."""
    *folders, _ = prefix.split("/")
    return "".join(_folder_name(folder) + "/" for folder in folders)


def key_of(path: str) -> str | None:
    """The key stored under this path; None when no key is, so that the path isn't ours."""
    *folders, file = _GOES_ON.sub("", path).split("/")
    names = ["" if folder == _EMPTY_FOLDER else folder for folder in folders]
    try:
        key = "/".join(_read(name) for name in (*names, file.removesuffix(_NO_DOT)))
        return key if path_of(key) == path else None
    except (UnicodeError, ObjectKeyTooLong):
        return None


def _folder_name(name: str) -> str:
    return _cut(_ODD_IN_FOLDER.sub(_escape, name)) or _EMPTY_FOLDER


def _file_name(name: str) -> str:
    spelled = _ODD.sub(_escape, name)
    return _cut(spelled if "." in spelled else spelled + _NO_DOT)


def _escape(match: re.Match[str]) -> str:
    # surrogatepass: Python text may hold half a character, and that is a key too.
    return "".join(f"%{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _cut(name: str) -> str:
    return name if len(name) <= MAX_NAME_BYTES else "%/".join(_PIECE.findall(name))


def _read(name: str) -> str:
    return unquote_to_bytes(name).decode("utf-8", "surrogatepass")
