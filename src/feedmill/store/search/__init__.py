"""Search: the index, how text is tokenized, statements, a module for each database, saved searches."""
