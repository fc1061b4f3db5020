"""Lists of entries, the article page, and what is done with entries."""
