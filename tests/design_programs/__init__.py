"""Programs as the design documents have them: each is a script of its own that imports nothing of Feedmill."""
