// Which statements read or write rows and nothing else. Others need ALLOW_EXEC, through whichever door.

const ROW_STATEMENT = /^\s*(select|with|values|insert|replace|update|delete|explain)\b/i;
// Comments, text and quoted names, in which a semicolon ends nothing.
const QUOTED = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/g;
const SECOND_STATEMENT = /;\s*[^\s;]/;

/** Whether `sql` is one statement about rows: D1 would also run whatever follows a semicolon. */
export function isAboutRows(sql) {
  return ROW_STATEMENT.test(sql) && !SECOND_STATEMENT.test(sql.replace(QUOTED, " "));
}
