"""`/settings/notifications`: targets of notifications."""
