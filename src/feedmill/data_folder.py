"""Where data and settings lie unless something else is said (docs/decisions/data-folder.md)."""

from pathlib import Path

from feedmill.errors import BadSetting
from feedmill.optional_imports import import_by_name

CHECKOUT_FOLDER = Path("data")


def default_data_folder() -> Path:
    """`data` in the current folder when run from a copy of the project, otherwise the user's data folder.

    Raises `BadSetting` for a user without a home, such as a number without an account in a container.
    """
    if _runs_from_checkout():
        return CHECKOUT_FOLDER
    if folder := _user_folder("user_data_path"):
        return folder
    raise BadSetting("data: this user has no home folder, so name a folder with --data or FEEDMILL_DATA")


def user_config_folder() -> Path | None:
    """The user's folder for settings; none when run from a copy of the project, or by a user without a home."""
    return None if _runs_from_checkout() else _user_folder("user_config_path")


def _runs_from_checkout() -> bool:
    return is_checkout(Path(__file__).parents[2])


def _user_folder(kind: str) -> Path | None:
    # Imported here: in a checkout no command needs it.
    find = import_by_name(f"platformdirs:{kind}")
    try:
        folder: Path = find("feedmill", appauthor=False)
    except RuntimeError:
        return None  # there is no home; older versions return a path that begins with ~
    return folder if folder.is_absolute() else None


def is_checkout(root: Path) -> bool:
    """Whether this is the root of the project, whose code is in `src/feedmill`; an installed package has none."""
    return (root / "pyproject.toml").is_file() and (root / "src" / "feedmill").is_dir()
