"""The processes of a scaled-out installation: `feedmill api`, `feedmill scheduler`, `feedmill worker`."""
