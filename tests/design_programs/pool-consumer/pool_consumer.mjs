// The consumer of the fifth design document: RPOP, an update of the status in the background, and the database when Redis
// has nothing or does not answer. Names, statements and order are those of the document; it is in Go there.
//
//     node pool_consumer.mjs REDIS_URL DATABASE_URL
//
// For each line "titles 1" on standard input it takes an item of that pool and prints it; "wait" waits for the updates.

import readline from "node:readline";

import { Redis } from "ioredis";
import mysql from "mysql2/promise";
import pg from "pg";

const ErrPoolEmpty = new Error("pool is empty");
const ErrNoRows = new Error("no rows in result set");
const isRedisError = (err) => err !== ErrNoRows;

// What sqlx does in the document: `?` in every statement, whatever the driver calls it.
async function connectDatabase(url) {
  if (url.startsWith("mysql:")) {
    const pool = mysql.createPool(url);
    return { query: async (sql, values) => (await pool.execute(sql, values))[0], close: () => pool.end() };
  }
  const pool = new pg.Pool({ connectionString: url });
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  const rebind = (sql) => sql.replace(/\?/g, () => `$${++rebind.count}`);
  return {
    query: async (sql, values) => {
      rebind.count = 0;
      return (await pool.query(rebind(sql), values)).rows;
    },
    close: () => pool.end(),
  };
}

class PoolConsumer {
  updateCh = [];
  updated = 0;
  failed = [];

  constructor(redis, db) {
    this.redis = redis;
    this.db = db;
  }

  async Pop(poolType, groupID) {
    const key = `${poolType}:pool:${groupID}`;

    // 1. RPOP
    const data = await this.redis.rpop(key);
    if (data === null) throw ErrPoolEmpty;

    // 2. JSON
    const item = JSON.parse(data);

    // 3. the status, in the background
    this.sendUpdate({ Table: poolType, ID: item.id });

    // 4. the text
    return item.text;
  }

  async PopWithFallback(poolType, groupID) {
    try {
      return { text: await this.Pop(poolType, groupID), from: "redis" };
    } catch (err) {
      if (err === ErrPoolEmpty || isRedisError(err)) {
        return { text: await this.fallbackFromDB(poolType, groupID), from: "database" };
      }
      throw err;
    }
  }

  async fallbackFromDB(poolType, groupID) {
    const table = poolType;
    const column = poolType === "contents" ? "content" : "title";

    const query = `
        SELECT id, ${column} as text FROM ${table}
        WHERE group_id = ? AND status = 1
        ORDER BY batch_id DESC, id ASC
        LIMIT 1
    `;
    const [item] = await this.db.query(query, [groupID]);
    if (item === undefined) throw ErrNoRows;

    this.sendUpdate({ Table: table, ID: item.id });
    return item.text;
  }

  sendUpdate(task) {
    this.updateCh.push(task);
    this.updating ??= this.updateWorker().finally(() => (this.updating = undefined));
  }

  async updateWorker() {
    for (let task; (task = this.updateCh.shift()) !== undefined; ) {
      const query = `UPDATE ${task.Table} SET status = 0 WHERE id = ?`;
      try {
        await this.db.query(query, [task.ID]);
        this.updated += 1;
      } catch (err) {
        // Logged only; not tried again.
        this.failed.push(String(err.message));
      }
    }
  }
}

const [redisURL, databaseURL] = process.argv.slice(2);
// As go-redis: an error after a few attempts, not an endless queue.
const redis = new Redis(redisURL, { maxRetriesPerRequest: 1, retryStrategy: () => 50, enableOfflineQueue: false });
redis.on("error", () => {});
await new Promise((resolve) => redis.once("ready", resolve));
const consumer = new PoolConsumer(redis, await connectDatabase(databaseURL));

for await (const line of readline.createInterface({ input: process.stdin })) {
  const [word, groupID] = line.split(" ");
  if (word === "wait") {
    await consumer.updating;
    console.log(JSON.stringify({ updated: consumer.updated, failed: consumer.failed }));
    continue;
  }
  try {
    console.log(JSON.stringify(await consumer.PopWithFallback(word, Number(groupID))));
  } catch (err) {
    console.log(JSON.stringify({ error: err.message }));
  }
}
redis.disconnect();
await consumer.db.close();
