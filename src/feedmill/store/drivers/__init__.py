"""One driver per database: how to connect, and the few words in which it differs from the others."""
