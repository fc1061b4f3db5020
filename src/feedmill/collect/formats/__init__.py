"""One reader per feed format. In: a decoded document. Out: a ParsedFeed."""
