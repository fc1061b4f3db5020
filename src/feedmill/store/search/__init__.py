"""Search: the index, how text is tokenized, queries in each database's syntax, saved searches."""
