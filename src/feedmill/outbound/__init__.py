"""The only way to the web: HTTP client with limits, redirects, SSRF checks and pacing per host."""
