"""The names of queues and tasks; other programs may rely on them."""

HIGH, DEFAULT = "high", "default"
QUEUES = (HIGH, DEFAULT)

REFRESH_FEED = "refresh_feed"
REFRESH_LOT = "refresh_feed_batch"
BATCH_COMPLETE = "on_user_feeds_complete"
SCAN_COMPLETE = "on_scan_complete"
ARCHIVE_IMAGES = "archive_images"
SCAN = "scan_due_feeds"
START_BATCH = "schedule_user_batch_refresh"
CHORES = "chores"
FILL_POOLS = "fill_pools"
