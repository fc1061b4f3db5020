"""`/search` and saved searches."""
