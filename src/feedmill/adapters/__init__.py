"""Picks the adapters that the settings name (database, object store, coordination) and imports only these."""
