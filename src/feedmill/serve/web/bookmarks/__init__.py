"""`/bookmarks`: saved pages."""
