"""Saving articles to other services: what users do with services, requests, and the queue."""
