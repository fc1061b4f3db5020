"""`/api/me`, `/api/sessions`, `/api/api-keys`, `/api/auth`, `/api/setup`, `/api/register`: accounts and sign-in."""
