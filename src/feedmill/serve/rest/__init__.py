"""JSON for programs."""
