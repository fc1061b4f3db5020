// The proxy between Feedmill and its D1 database: three paths, one Bearer token.
//
//   POST /query {sql, params}                 -> {results: [row], meta}
//   POST /batch {statements: [{sql, params}]} -> {results: [{changes, results}]}   all or nothing
//   POST /exec  {sql}                         -> {}                                only with ALLOW_EXEC
//
// Every failure is {error: {code, message}}. Neither statements nor values are logged.

import { isAllowedIn, unsafeTokens } from "./token.js";
import { readJson } from "./body.js";
import { Refusal, fromDatabase } from "./refusal.js";
import { isAboutRows } from "./statement.js";

const DOORS = { "/query": query, "/batch": batch, "/exec": exec };

export default {
  async fetch(request, env) {
    try {
      return Response.json(await answer(request, env));
    } catch (error) {
      return refuse(error);
    }
  },
};

async function answer(request, env) {
  const unsafe = unsafeTokens(env);
  if (unsafe) throw new Refusal(500, "unsafe_token", unsafe);
  if (!(await isAllowedIn(request, env))) {
    throw new Refusal(401, "unauthorized", "the Bearer token is missing or wrong");
  }
  const { pathname } = new URL(request.url);
  if (!Object.hasOwn(DOORS, pathname)) throw new Refusal(404, "not_found", `there is no ${pathname} here`);
  if (request.method !== "POST") throw new Refusal(405, "method_not_allowed", "only POST is answered");
  return DOORS[pathname](await readJson(request), env);
}

async function query(body, env) {
  const prepared = prepare(body, env);
  const { results, meta } = await fromDatabase(() => prepared.all());
  return { results, meta };
}

async function batch(body, env) {
  if (!Array.isArray(body.statements) || body.statements.length === 0) {
    throw new Refusal(400, "bad_request", '"statements" must be a list with at least one statement');
  }
  const prepared = body.statements.map((statement) => prepare(statement, env));
  const done = await fromDatabase(() => env.DB.batch(prepared));
  return { results: done.map(({ results, meta }) => ({ changes: meta.changes, results })) };
}

async function exec(body, env) {
  mayChangeSchema(env);
  // Not DB.exec(): it treats every line as a statement.
  const prepared = prepare({ sql: body.sql }, env);
  await fromDatabase(() => prepared.run());
  return {};
}

function prepare(statement, env) {
  const { sql, params = [] } = statement ?? {};
  if (typeof sql !== "string" || sql.trim() === "") {
    throw new Refusal(400, "bad_request", '"sql" must be the text of a statement');
  }
  if (!Array.isArray(params) || !params.every(isBindable)) {
    throw new Refusal(400, "bad_request", '"params" must be a list of null, text, and numbers within ±(2^53 - 1)');
  }
  if (!isAboutRows(sql)) mayChangeSchema(env);
  return env.DB.prepare(sql).bind(...params);
}

function isBindable(value) {
  // JSON.parse has already rounded a larger integer: an id would silently become another.
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return value === null || typeof value === "string";
}

function mayChangeSchema(env) {
  if (!["1", "true"].includes(String(env.ALLOW_EXEC).toLowerCase())) {
    throw new Refusal(403, "exec_disabled", 'changing the schema is switched off: set ALLOW_EXEC = "1" for migrations');
  }
}

function refuse(error) {
  const refusal = error instanceof Refusal ? error : new Refusal(500, "internal", "the proxy worker failed");
  if (refusal !== error) console.error("unexpected failure:", error?.stack ?? String(error));
  else if (refusal.status >= 500) console.error(`${refusal.code}: ${refusal.message}`);
  const headers = { "cache-control": "no-store" };
  if (refusal.status === 401) headers["www-authenticate"] = "Bearer";
  if (refusal.status === 405) headers.allow = "POST";
  const { status, code, message } = refusal;
  return Response.json({ error: { code, message } }, { status, headers });
}
