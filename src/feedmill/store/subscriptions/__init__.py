"""Subscriptions of users to feeds, their settings and folders."""
