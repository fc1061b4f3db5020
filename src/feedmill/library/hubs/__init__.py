"""WebSub hubs: subscribes feeds there, confirms subscriptions, receives pushes and refreshes feeds with them."""
