"""Where data and settings lie unless something else is said (docs/decisions/data-folder.md)."""

from pathlib import Path

from feedmill.optional_imports import import_by_name

CHECKOUT_FOLDER = Path("data")


def default_data_folder() -> Path:
    """`data` in the current folder when run from a copy of the project, otherwise the user's data folder."""
    return CHECKOUT_FOLDER if _runs_from_checkout() else _user_folder("user_data_path")


def user_config_folder() -> Path | None:
    """The user's folder for settings; none when run from a copy of the project."""
    return None if _runs_from_checkout() else _user_folder("user_config_path")


def _runs_from_checkout() -> bool:
    return is_checkout(Path(__file__).parents[2])


def _user_folder(kind: str) -> Path:
    # Imported here: in a checkout no command needs it.
    folder: Path = import_by_name(f"platformdirs:{kind}")("feedmill", appauthor=False)
    return folder


def is_checkout(root: Path) -> bool:
    """Whether this is the root of the project, whose code is in `src/feedmill`; an installed package has none."""
    return (root / "pyproject.toml").is_file() and (root / "src" / "feedmill").is_dir()
