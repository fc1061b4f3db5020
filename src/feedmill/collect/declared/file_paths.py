"""Lists the feeds files that exist. Imports no YAML, so that a cron job starts fast."""

from pathlib import Path

FILE_NAMES = ("feeds.yaml", "feeds.yml", "feeds.json", "feeds.toml")


def feeds_files(named: Path | None, data: Path) -> list[Path]:
    """Those that are there: the one that is named, else any in the data folder."""
    files = [named] if named else [data / name for name in FILE_NAMES]
    return [file for file in files if file.is_file()]
