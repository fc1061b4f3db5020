"""The consumer of the fifth design document, on SQLite: the same as `pool-consumer/pool_consumer.mjs`.

python pool_consumer.py REDIS_URL DATABASE_FILE
"""

import json
import queue
import sqlite3
import sys
import threading
from typing import Any

from redis import Redis
from redis.exceptions import RedisError


class PoolEmptyError(Exception):
    """The list has nothing."""


class NoRowsError(Exception):
    """The database has nothing."""


class PoolConsumer:
    def __init__(self, redis: Any, db_path: str) -> None:
        self.redis = redis
        self.db_path = db_path
        self.db = sqlite3.connect(db_path, isolation_level=None, timeout=30)
        self.update_ch: queue.Queue[tuple[str, int]] = queue.Queue()
        self.updated = 0
        self.failed: list[str] = []
        threading.Thread(target=self.update_worker, daemon=True).start()

    def pop(self, pool_type: str, group_id: int) -> str:
        data = self.redis.rpop(f"{pool_type}:pool:{group_id}")
        if data is None:
            raise PoolEmptyError
        item = json.loads(data)
        self.update_ch.put((pool_type, item["id"]))
        return str(item["text"])

    def pop_with_fallback(self, pool_type: str, group_id: int) -> dict[str, str]:
        try:
            return {"text": self.pop(pool_type, group_id), "from": "redis"}
        except (PoolEmptyError, RedisError):
            return {"text": self.fallback_from_db(pool_type, group_id), "from": "database"}

    def fallback_from_db(self, pool_type: str, group_id: int) -> str:
        table = pool_type
        column = "content" if pool_type == "contents" else "title"
        query = f"""
            SELECT id, {column} as text FROM {table}
            WHERE group_id = ? AND status = 1
            ORDER BY batch_id DESC, id ASC
            LIMIT 1
        """
        item = self.db.execute(query, (group_id,)).fetchone()
        if item is None:
            raise NoRowsError("no rows in result set")
        self.update_ch.put((table, item[0]))
        return str(item[1])

    def update_worker(self) -> None:
        db = sqlite3.connect(self.db_path, isolation_level=None, timeout=30)
        while True:
            table, id = self.update_ch.get()
            try:
                db.execute(f"UPDATE {table} SET status = 0 WHERE id = ?", (id,))
                self.updated += 1
            except sqlite3.Error as error:
                # Logged only; not tried again.
                self.failed.append(str(error))
            self.update_ch.task_done()


def main() -> None:
    consumer = PoolConsumer(Redis.from_url(sys.argv[1], socket_timeout=5), sys.argv[2])
    for line in sys.stdin:
        word, _, group_id = line.strip().partition(" ")
        if word == "wait":
            consumer.update_ch.join()
            printed: dict[str, Any] = {"updated": consumer.updated, "failed": consumer.failed}
        else:
            try:
                printed = dict(consumer.pop_with_fallback(word, int(group_id)))
            except NoRowsError as error:
                printed = {"error": str(error)}
        print(json.dumps(printed), flush=True)


if __name__ == "__main__":
    main()
