"""Subscribing to feeds, folders, import and export."""
