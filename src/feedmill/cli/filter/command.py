"""`feedmill filter`: the group of its commands."""

import click


@click.group()
def filter() -> None:
    """Filters of a user: what they do with new entries, and with those that are there."""
