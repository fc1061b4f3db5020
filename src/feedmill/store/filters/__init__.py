"""Filters of subscribers, applied to new entries."""
