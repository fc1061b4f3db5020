"""The users who own files: their names, and the finding that this user may not look at the files of another."""

import os
import pwd
import shlex
from contextlib import suppress
from pathlib import Path

from feedmill.cli.doctor.findings import Finding, error
from feedmill.i18n.messages import Message

NOT_PERMITTED = "not_permitted"


def user_name(uid: int) -> str:
    """The name of a user; its number if it has none, as in a container."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def owner_of(path: Path) -> str:
    """The owner of a path or, if it is not there or may not be looked at, of the nearest folder above it."""
    return user_name(os.stat(_nearest_visible(path)).st_uid)


def command_to_create(folder: Path, owner: str) -> str:
    """What root types to create a private folder for a user."""
    return shlex.join(["install", "-d", "-m", "700", "-o", owner, str(folder)])


def not_permitted(path: Path, data: Path) -> Finding:
    """This user may not look at a path; its owner may."""
    folder, owner = str(_nearest_visible(path)), owner_of(path)
    text = Message("doctor.not_permitted", folder=folder)
    return error(text, Message("doctor.not_permitted_help", user=owner, data=str(data.absolute())))


def _nearest_visible(path: Path) -> Path:
    for place in (path, *path.absolute().parents):
        with suppress(OSError):
            os.stat(place)
            return place
    return Path("/")
