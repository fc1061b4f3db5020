"""Pictures of the documentation, made from the real pages of `feedmill demo`."""
