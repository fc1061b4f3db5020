"""Output feeds: creates and revokes them, and reads and renders what they list."""
