"""The web turned into entries. In: a feed that is due. Out: one atomic write in the store."""
