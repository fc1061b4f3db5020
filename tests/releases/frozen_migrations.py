"""The migrations that were released, with the hash of each file: `released.toml` beside them."""

import tomllib
from hashlib import sha256
from pathlib import Path

from feedmill.store import migrations

FOLDER = Path(migrations.__file__).parent
RECORD = FOLDER / "released.toml"
HEADER = """\
# The migrations of each release and their SHA-256. A released file never changes: a change of the schema is a new
# migration. tools/freeze-release adds a release.
"""


def read_releases() -> dict[str, dict[str, str]]:
    """The files of each release, with their hashes."""
    return tomllib.loads(RECORD.read_text()) if RECORD.exists() else {}


def schema_of(version: str) -> int:
    """The number of the newest migration of a release. Each release lists only those that are new in it."""
    releases = read_releases()
    until = list(releases)[: list(releases).index(version) + 1]
    return max(int(file.partition("_")[0]) for name in until for file in releases[name])


def freeze_migrations(version: str) -> list[str]:
    """Records the files that no other version has released as those of this one; their names."""
    others = {name: files for name, files in read_releases().items() if name != version}
    frozen = {file for files in others.values() for file in files}
    new = {path.name: file_hash(path) for path in sorted(FOLDER.glob("*.sql")) if path.name not in frozen}
    tables = [_table(name, files) for name, files in {**others, version: new}.items()]
    RECORD.write_text("\n".join([HEADER, *tables]))
    return list(new)


def _table(version: str, files: dict[str, str]) -> str:
    return "\n".join([f'["{version}"]', *(f'"{name}" = "{digest}"' for name, digest in files.items()), ""])


def file_hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
