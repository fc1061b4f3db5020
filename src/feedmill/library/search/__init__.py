"""Search: the query language, running a search, snippets, hints."""
