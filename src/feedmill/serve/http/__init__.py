"""What the API and the pages share of HTTP: authentication, limits, headers, server-sent events, metrics, health."""
