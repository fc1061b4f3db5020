"""Finds the feeds at a URL that a user pasted."""
