"""Services that articles are saved to, in the database."""
