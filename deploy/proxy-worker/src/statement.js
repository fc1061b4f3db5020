// Recognises statements that only read or write rows. All others need ALLOW_EXEC, at every path.

const ROW_STATEMENT = /^\s*(select|with|values|insert|replace|update|delete|explain)\b/i;
// Comments, strings and quoted names, in which a semicolon does not end a statement.
const QUOTED = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/g;
const SECOND_STATEMENT = /;\s*[^\s;]/;

/** Whether `sql` is one statement about rows: D1 would also run whatever follows a semicolon. */
export function isAboutRows(sql) {
  return ROW_STATEMENT.test(sql) && !SECOND_STATEMENT.test(sql.replace(QUOTED, " "));
}
