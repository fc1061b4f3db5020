"""Images of entries: which to download, how, what became of it, and where they are stored."""
