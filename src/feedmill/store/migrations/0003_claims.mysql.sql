DROP INDEX IF EXISTS feeds_claimed ON feeds;
