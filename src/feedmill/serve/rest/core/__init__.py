"""What all API routes share: dependencies, field types, pagination, errors, OpenAPI."""
