"""The sidebar of every page: its feeds and folders, how a user left it, their menus, and live unread counts."""
