DROP INDEX IF EXISTS feeds_claimed;
