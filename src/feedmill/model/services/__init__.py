"""Services that articles are saved to."""
