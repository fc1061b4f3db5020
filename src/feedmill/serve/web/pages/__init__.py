"""One file a screen, each with its `routes`."""
