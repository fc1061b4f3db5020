"""What commands start with: context and settings, the database or the whole app, signals."""
