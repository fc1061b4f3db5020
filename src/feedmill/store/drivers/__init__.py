"""One driver per database: connections, errors, and where the database differs from the others."""
