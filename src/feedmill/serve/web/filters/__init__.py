"""Form fields of filters: rules and labels for new entries."""
