"""Targets of notifications, and what they are notified of."""
