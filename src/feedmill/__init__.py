"""Feedmill collects feeds politely, keeps them for good, and hands them on without repeating or losing an item."""

__version__ = "0.1.0"
