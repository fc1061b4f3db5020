// Saves articles to the reader's services without leaving the page. The answer says which; the article's menu, how it went.

import { ask } from "./bulk_marks.js";
import { all, one, showToast } from "./page.js";
import { picked } from "./rows.js";

const PATH = "/marks/save";

export async function saveEntries(fields) {
  const answer = await ask(PATH, fields);
  if (answer) showToast(answer.message);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.(`[formaction="${PATH}"]`);
  if (!button) return;
  event.preventDefault();
  const fields = [...new FormData(button.form)].filter(([name]) => name === "id");
  saveEntries([...fields, ...(button.value ? [["service", button.value]] : [])]);
  button.closest(".menu")?.removeAttribute("open");
  for (const row of all(".row:has(.pick:checked)", button.form)) one(".pick", row).checked = false;
  if (button.form.id === "list") picked();
});
