"""Notifications: targets, what waits for them, and saved searches that are watched."""
