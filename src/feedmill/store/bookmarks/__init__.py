"""Bookmarks of users and the fetching of their pages."""
