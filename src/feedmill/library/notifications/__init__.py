"""Notifications of users: targets, messages, and sending."""
