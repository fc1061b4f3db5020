// Error responses: a status, a code for programs and a message for people.

export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const CONSTRAINT = /(UNIQUE|NOT NULL|FOREIGN KEY|CHECK|PRIMARY KEY)? ?constraint failed|SQLITE_CONSTRAINT/i;
// Errors of the statement itself, for which a retry can't help. All other errors of D1 (overloaded, reset,
// connection lost, storage full, daily quota used up) are temporary or need the operator.
const STATEMENT = /SQLITE_(ERROR|TOOBIG|MISMATCH|RANGE|AUTH)|D1_TYPE_ERROR|parameter bindings|BEGIN TRANSACTION/;

/** Returns the result of `work`; turns errors of D1 into error responses. */
export async function fromDatabase(work) {
  try {
    return await work();
  } catch (error) {
    throw translate(String(error?.message ?? error));
  }
}

function translate(message) {
  const constraint = CONSTRAINT.exec(message);
  if (constraint) {
    const kind = (constraint[1] ?? "other").toLowerCase().replace(" ", "_");
    return new Refusal(422, `constraint_${kind}`, message);
  }
  if (STATEMENT.test(message)) return new Refusal(422, "sql_error", message);
  return new Refusal(503, "database_unavailable", message);
}
