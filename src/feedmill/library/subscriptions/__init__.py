"""Subscriptions: subscribing, changing, folders, OPML import and export."""
