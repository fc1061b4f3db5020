"""Webhooks: events, delivery, and what users do with them."""
