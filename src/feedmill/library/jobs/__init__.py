"""Jobs that a user started."""
