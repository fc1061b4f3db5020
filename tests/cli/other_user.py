"""Looks at an installation as a user who may not look into its folder."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def forbidden(folder: Path) -> Iterator[None]:
    """This process may not look into the folder during the block; as root it becomes another user, who may not."""
    user = os.geteuid()
    folder.chmod(0)
    try:
        if user == 0:
            os.seteuid(NOBODY)
        yield
    finally:
        os.seteuid(user)
        folder.chmod(0o700)
