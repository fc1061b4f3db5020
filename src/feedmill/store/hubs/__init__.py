"""WebSub hubs: our subscriptions there, the requests that hubs are sent, and what they pushed."""
