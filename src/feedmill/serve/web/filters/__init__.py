"""Form fields of what is done with a feed's new entries."""
