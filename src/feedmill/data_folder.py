"""Where the data lies unless the setting `data` says otherwise (docs/decisions/data-folder.md)."""

from pathlib import Path

from feedmill.optional_imports import import_by_name

CHECKOUT_FOLDER = Path("data")


def default_data_folder() -> Path:
    """`data` in the current folder when run from a copy of the project, otherwise the user's data folder."""
    if is_checkout(Path(__file__).parents[2]):
        return CHECKOUT_FOLDER
    # Imported here: in a checkout, and with the setting, no command needs it.
    folder: Path = import_by_name("platformdirs:user_data_path")("feedmill", appauthor=False)
    return folder


def is_checkout(root: Path) -> bool:
    """Whether this is the root of the project, whose code is in `src/feedmill`; an installed package has none."""
    return (root / "pyproject.toml").is_file() and (root / "src" / "feedmill").is_dir()
