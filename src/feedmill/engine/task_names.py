"""Names of queues and Celery tasks; other programs may rely on them."""

HIGH_QUEUE, DEFAULT_QUEUE = "high", "default"
QUEUES = (HIGH_QUEUE, DEFAULT_QUEUE)

REFRESH_FEED = "refresh_feed"
REFRESH_FEED_BATCH = "refresh_feed_batch"
BATCH_COMPLETE = "on_user_feeds_complete"
SCAN_COMPLETE = "on_scan_complete"
ARCHIVE_IMAGES = "archive_images"
SCHEDULE_IMAGES = "schedule_image_processing"
SCAN_DUE_FEEDS = "scan_due_feeds"
START_BATCH = "schedule_user_batch_refresh"
MAINTENANCE = "maintenance"
FILL_POOLS = "fill_pools"
