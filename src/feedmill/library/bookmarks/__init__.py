"""Bookmarks: saved pages, and what is known of them."""
