"""Stories: keys and sketches of entries, which entries are the same article, and how lists show them once."""
