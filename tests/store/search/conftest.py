"""The log events of a test."""

from tests.flows.conftest import logged

__all__ = ["logged"]
