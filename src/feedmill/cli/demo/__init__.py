"""The command `feedmill demo`."""

from feedmill.cli.demo.command import demo

__all__ = ["demo"]
