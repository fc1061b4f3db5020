"""Output feeds: their secret addresses, the entries that they list, changes that a hub is told of."""
