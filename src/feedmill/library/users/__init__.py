"""Users: accounts, passwords, sign-in, API tokens, preferences, limits."""
