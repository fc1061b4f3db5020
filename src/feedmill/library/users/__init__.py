"""Users: accounts, passwords, sign-in, API keys, preferences, limits."""
