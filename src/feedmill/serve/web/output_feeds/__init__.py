"""`/settings/output-feeds`: output feeds and their addresses."""
