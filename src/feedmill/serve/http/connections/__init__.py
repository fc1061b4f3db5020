"""The server's socket and its connections: how many there may be, and how slow their clients."""
