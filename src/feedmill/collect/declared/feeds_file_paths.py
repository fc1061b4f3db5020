"""Lists the feeds files that exist. Imports no YAML, so that a cron job starts fast."""

from pathlib import Path

FILE_NAMES = ("feeds.yaml", "feeds.yml", "feeds.json", "feeds.toml")


def feeds_files(named: Path | None, data: Path) -> list[Path]:
    """The feeds files that exist: the one that the setting names, else all in the data folder."""
    files = [named] if named else [data / name for name in FILE_NAMES]
    return [file for file in files if file.is_file()]


def feeds_file_pattern(data: Path) -> Path:
    """Where a feeds file may be in the data folder, as a pattern of the shell."""
    return data / f"feeds.{{{','.join(name.partition('.')[2] for name in FILE_NAMES)}}}"
