"""How commands start: context and settings, the database or the whole app, signals."""
