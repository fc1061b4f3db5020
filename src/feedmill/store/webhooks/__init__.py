"""Webhooks: endpoints, the delivery queue, the delivery log."""
