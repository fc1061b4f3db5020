"""Host slots, locks, presence and pool queues shared by processes. All of it may be lost; the database decides."""
