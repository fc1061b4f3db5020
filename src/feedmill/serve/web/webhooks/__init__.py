"""`/settings/webhooks`: webhooks and their deliveries."""
