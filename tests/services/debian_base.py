"""File systems of Debian, made of its packages by mmdebstrap, and kept as archives in the environment."""

import os
import sys
from pathlib import Path

from tests.services.later_debian import archive_url, rename_unless_there, run


def make_archive(release: str, name: str, *packages: str) -> Path:
    """The file system of a release with these packages as an archive; it is made the first time."""
    # In the environment, which git ignores and `make clean` removes.
    archive = Path(sys.prefix) / "debian" / release / f"{name}.tar"
    if not archive.exists():
        archive.parent.mkdir(parents=True, exist_ok=True)
        unfinished = archive.with_suffix(f".{os.getpid()}.tar")
        include = f"--include={','.join(packages)}"
        run(["mmdebstrap", "--quiet", "--variant=apt", include, release, str(unfinished), archive_url()])
        rename_unless_there(unfinished, archive)
    return archive
