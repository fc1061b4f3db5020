"""Generates the pages of docs/reference and the man page from the code, one module per page."""

MADE = "<!-- Made from the code by `make docs`; a test fails when it is out of date. -->"


def row(*cells: str) -> str:
    """A row of a Markdown table, with bars in cells escaped."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
