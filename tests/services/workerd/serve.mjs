// Runs the real proxy worker under workerd with a D1 database in a folder:
//   node serve.mjs PORT FOLDER BINDINGS-AS-JSON

import { readdirSync, readFileSync } from "node:fs";
import { Miniflare } from "miniflare";

const [port, folder, bindings] = process.argv.slice(2);
const workerFolder = new URL("../../../deploy/proxy-worker/src/", import.meta.url);
const names = readdirSync(workerFolder).filter((name) => name !== "worker.js");
const modules = ["worker.js", ...names].map((name) => ({
  type: "ESModule",
  path: name,
  contents: readFileSync(new URL(name, workerFolder), "utf-8"),
}));

const server = new Miniflare({
  modules,
  host: "127.0.0.1",
  port: Number(port),
  compatibilityDate: "2026-04-01",
  d1Databases: { DB: "feedmill" },
  d1Persist: folder,
  bindings: JSON.parse(bindings),
});
await server.ready;
console.log("ready");
