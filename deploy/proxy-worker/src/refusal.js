// What went wrong, in a form that a program can act on: a status and a code, and a line for a person.

export class Refusal extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

const CONSTRAINT = /(UNIQUE|NOT NULL|FOREIGN KEY|CHECK|PRIMARY KEY)? ?constraint failed|SQLITE_CONSTRAINT/i;
// The statement's own fault: asking again can't help. Whatever else D1 says (overloaded, reset, connection
// lost, storage full, daily quota used up) is a matter of time or of the operator.
const STATEMENT = /SQLITE_(ERROR|TOOBIG|MISMATCH|RANGE|AUTH)|D1_TYPE_ERROR|parameter bindings|BEGIN TRANSACTION/;

/** What `work` gives; D1's errors come out as refusals. */
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
