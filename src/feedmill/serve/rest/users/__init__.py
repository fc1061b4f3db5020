"""`/api/me`, `/api/sessions`, `/api/tokens`, `/api/auth`, `/api/setup`, `/api/register`: accounts and sign-in."""
