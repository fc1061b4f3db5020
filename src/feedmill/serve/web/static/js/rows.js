// The rows of a list: which is current, which are picked, and what they are marked as.

import { all, articlePlace, one, t } from "./page.js";
import { mark } from "./mark_queue.js";

export const OPPOSITE = { read: "unread", unread: "read", star: "unstar", unstar: "star", later: "unlater", unlater: "later" };

export const list = one("#list");
export const rows = () => all(".row", list ?? document.createElement("div"));
// Lists are long: the current row is remembered, and the others are found from it. Results of a search have their own.
let pointed = null;
export const current = () => (pointed?.isConnected ? pointed : (pointed = list && one(".row.current", list)));
export const more = () => list && one("a", list.getElementsByClassName("more")[0] ?? document.createElement("div"));
export const rowOf = (id) => document.getElementById(`e${id}`);

export function point(row) {
  if (!row) return;
  current()?.classList.remove("current");
  pointed = row;
  row.classList.add("current");
  row.scrollIntoView({ block: "nearest" });
}

export function step(by, from = current(), fits = () => true) {
  const way = by > 0 ? "nextElementSibling" : "previousElementSibling";
  let row = from ? from[way] : list?.getElementsByClassName("row")[0];
  while (row && !(row.matches(".row") && fits(row))) row = row[way];
  return row ?? null;
}

// Shows a mark at once, and lets the queue tell the server.
export function apply(action, id) {
  const row = rowOf(id);
  if (row && changes(action, row) && action.endsWith("read")) count(row.dataset.feed, action === "unread" ? 1 : -1);
  display(action, id);
  mark(action, id);
}

// The class of rows that an action sets, or takes away.
const kind = (action) => (action.endsWith("read") ? "unread" : action.endsWith("star") ? "starred" : "later");
const sets = (action) => action === "unread" || !(action === "read" || action.startsWith("un"));

export const changes = (action, row) => row.classList.contains(kind(action)) !== sets(action);

// Shows a mark in the row and in an open article.
export function display(action, id) {
  const row = rowOf(id);
  row?.classList.toggle(kind(action), sets(action));
  for (const place of [row, one(".article-bar", articlePlace)])
    for (const button of place ? all(`button[value="${action}:${id}"]`, place) : []) {
      button.value = `${OPPOSITE[action]}:${id}`;
      button.setAttribute("aria-pressed", String(!action.startsWith("un")));
    }
}

// What a filter marked, and was taken back in the article.
document.addEventListener("htmx:after:swap", () => {
  const taken = one(".effects[data-unmark]", articlePlace);
  if (taken) display(...taken.dataset.unmark.split(":"));
  taken?.removeAttribute("data-unmark");
});

export function toggle(kind, id) {
  const row = rowOf(id);
  const button = one(`button[value$=":${id}"].${kind}`, row ?? articlePlace);
  if (kind === "read") apply(row?.classList.contains("unread") || button?.value.startsWith("read:") ? "read" : "unread", id);
  else if (button) apply(button.value.split(":")[0], id);
}

function count(feed, by) {
  document.dispatchEvent(new CustomEvent("marked", { detail: by }));
  for (const place of all(`[data-feed="${feed}"].count, #count-unread`, one("#nav") ?? document)) {
    const now = Math.max(0, Number(place.textContent.replace(/\D/g, "")) + by);
    show(place, now);
  }
}

function show(place, n) {
  place.textContent = n.toLocaleString("en");
  place.hidden = n === 0;
}

// Buttons named `do` with `action:id` are marks, wherever they stand.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.('button[name="do"][value*=":"]');
  if (!button || !button.form?.matches("[data-marks]")) return;
  event.preventDefault();
  apply(...button.value.split(":"));
});

// Picking: one by one, or with shift from the last one to here.
let last = null;

export function pick(row, upTo = false) {
  const every = rows();
  const ends = upTo && last ? [every.indexOf(last), every.indexOf(row)].sort((a, b) => a - b) : [every.indexOf(row), every.indexOf(row)];
  const on = upTo ? true : !one(".pick", row).checked;
  for (const each of every.slice(ends[0], ends[1] + 1)) one(".pick", each).checked = on;
  last = row;
  picked();
}

export function picked() {
  const n = all(".pick:checked", list).length;
  list.classList.toggle("picking", n > 0);
  const chosen = one(".bulk .chosen", list);
  if (chosen) chosen.textContent = t("selected", { n });
}

list?.addEventListener("click", (event) => {
  if (!event.target.matches(".pick")) return;
  const row = event.target.closest(".row");
  if (event.shiftKey && last) pick(row, true);
  last = row;
  picked();
});
