"""`/api/filters`, `/api/mutes` and `/api/follows`; what filters did to an entry."""
