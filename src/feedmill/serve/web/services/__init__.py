"""`/settings/services`: services that articles are saved to, and saving to them."""
