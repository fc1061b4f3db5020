"""`feedmill pool` and its commands."""

from feedmill.cli.pool.groups import pool

__all__ = ["pool"]
