// Marks many rows at once. The server marks them in the whole view; the message offers to undo it.

import { flush } from "./mark_queue.js";
import { all, mustSignIn, one, send, showToast, t } from "./page.js";
import { OPPOSITE, changes, display, list, picked, rows } from "./rows.js";

const UNDO_FOR = 10;

async function change(path, fields, action, beside) {
  const answer = await ask(path, fields);
  if (!answer) return;
  const ids = beside.filter((row) => changes(action, row)).map((row) => row.dataset.id);
  ids.forEach((id) => display(action, id));
  showToast(answer.message, "done", UNDO_FOR, answer.undo && (() => undo(answer.undo, OPPOSITE[action], ids)));
}

async function undo(token, action, ids) {
  const answer = await ask("/undo", { undo: token });
  if (!answer) return;
  ids.forEach((id) => display(action, id));
  showToast(answer.message);
}

export async function ask(path, fields) {
  await flush();
  const response = await send(path, fields).catch(() => null);
  if (response && mustSignIn(response)) return null;
  if (!response?.ok) return showToast(t("failed"), "failed");
  const answer = await response.json();
  document.dispatchEvent(new CustomEvent("counts", { detail: answer }));
  return answer;
}

const markMany = (action, chosen) => change("/marks", [["do", action], ...chosen.map((row) => ["id", row.dataset.id])], action, chosen);

// Of a search only the loaded results are known; of a view the server knows all entries above or below.
export function markSide(side, row) {
  const every = rows();
  const here = every.indexOf(row);
  const beside = side === "above" ? every.slice(0, here) : every.slice(here + 1);
  const { view, order, asOf } = list.dataset;
  if (order) change("/mark-side-read", { view, order, entry: row.dataset.id, side, up_to: asOf }, "read", beside);
  else markMany("read", beside);
}

list?.addEventListener("click", (event) => {
  const button = event.target.closest('.bulk button[name="do"]');
  if (!button) return;
  event.preventDefault();
  const chosen = all(".row:has(.pick:checked)", list);
  markMany(button.value, chosen);
  for (const row of chosen) one(".pick", row).checked = false;
  picked();
});
