// The keyboard. What moves in a list is here; any other element takes part by its `data-key` ("A", "g u").

import { markSide } from "./bulk_marks.js";
import { showImages } from "./lightbox.js";
import { enter } from "./menus.js";
import { OVER, allOpen, one, openNewDialog, showToast, t } from "./page.js";
import { isOpen, leave, open, openId } from "./reading_pane.js";
import { saveEntries } from "./save_to_services.js";
import { current, list, more, pick, point, rowOf, step, toggle } from "./rows.js";

const PATIENCE = 1200;
let before = "";
let forget = 0;

const pane = () => (isOpen() ? one(".pane") : document.scrollingElement);
const link = () => (openId() ? one(".article-bar [data-original]")?.href : one("[data-original]", current() ?? document)?.href);
const id = () => openId() ?? current()?.dataset.id;

function go(by) {
  const next = step(by);
  if (next) open(next);
  else if (by > 0 && more()) loadMore();
  else if (!current() || (by < 0 && one(".earlier"))) one(by > 0 ? 'a[rel="next"]' : 'a[rel="prev"]')?.click();
  else if (by > 0) goOnward();
}

function loadMore() {
  more().click();
  const went = new AbortController();
  document.addEventListener("htmx:after:swap", () => {
    if (!step(1)) return;
    went.abort();
    go(1);
  }, { signal: went.signal });
}

// At the end of a list the key points at the way on first, and takes it when it is pressed again.
function goOnward() {
  const link = one("#main .onward a");
  if (link && link === document.activeElement) link.click();
  else link?.focus();
}

// The same article in other feeds: its links get the focus, in the open article or in the current row.
function showCopies() {
  const links = one(".also-in a", isOpen() ? one(".pane") : document);
  const also = one(".also", (!openId() && current()) || document.createElement("div"));
  if (also) also.open = !also.open;
  (links ?? (also?.open ? one("a", also) : null))?.focus();
}

function page(by) {
  const place = pane();
  const before = place.scrollTop;
  place.scrollBy({ top: by * innerHeight * 0.85 });
  if (by > 0 && openId() && before + place.clientHeight >= place.scrollHeight - 4) go(1);
}

const feedWithUnread = (by) => location.assign(`/next-unread?${new URLSearchParams({ at: list?.dataset.view ?? "", by })}`);

// As a click with Ctrl or Cmd does it: browsers let no script open a window behind the others.
function openBehind(href) {
  if (!href) return;
  const link = Object.assign(document.createElement("a"), { href, target: "_blank", rel: "noopener noreferrer" });
  link.dispatchEvent(new MouseEvent("click", { ctrlKey: true, metaKey: true }));
}

const OWN = {
  j: () => go(1),
  k: () => go(-1),
  n: () => point(step(1)),
  p: () => point(step(-1)),
  N: () => {
    const next = step(1, current(), (row) => row.classList.contains("unread"));
    if (next) open(next);
  },
  o: () => (isOpen() ? leave() : current() && open(current())),
  Enter: () => (isOpen() ? leave() : current() && open(current())),
  v: () => link() && window.open(link(), "_blank", "noopener,noreferrer"),
  b: () => openBehind(link()),
  V: () => link() && location.assign(link()),
  m: () => id() && toggle("read", id()),
  M: () => {
    if (id()) toggle("read", id());
    go(-1);
  },
  s: () => id() && toggle("star", id()),
  f: () => id() && toggle("star", id()),
  l: () => id() && toggle("later", id()),
  S: () => id() && saveEntries([["id", id()]]),
  i: () => openId() && showImages(),
  e: () => showCopies(),
  x: () => current() && pick(current()),
  X: () => current() && pick(current(), true),
  Y: () => current() && markSide("above", current()),
  B: () => current() && markSide("below", current()),
  " ": () => page(1),
  "shift+ ": () => page(-1),
  "g g": () => pane().scrollTo({ top: 0 }),
  G: () => pane().scrollTo({ top: pane().scrollHeight }),
  "z t": () => rowOf(id())?.scrollIntoView({ block: "start" }),
  J: () => feedWithUnread(1),
  K: () => feedWithUnread(-1),
  "g c": () => location.assign("/folders"),
  "g t": () => location.assign("/labels"),
  "Ctrl+K": () => openPage("/go", t("go")),
  "#": () => /^\/feed\/\d+$/.test(list?.dataset.view) && location.assign(`${list.dataset.view}/edit#unsubscribe`),
  "?": () => openPage("/keys", t("keys")),
  Escape: () => isOpen() && leave(),
};

// A page of ours in a dialog. `typed` is what was typed while it was on its way: it is for the dialog's field.
let arriving = null;

export async function openPage(path, title) {
  if (arriving) return;
  arriving = Object.assign(new AbortController(), { typed: "" });
  try {
    const response = await fetch(path, { signal: arriving.signal, headers: { "HX-Request": "true" } });
    if (response.ok) showPage(title, await response.text());
    else location.assign(path);
  } catch (error) {
    if (error.name !== "AbortError") showToast(t("failed"), "failed");
  } finally {
    arriving = null;
  }
}

function showPage(title, html) {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", title);
  dialog.innerHTML = `<header><h2></h2><form method="dialog"><button class="tool"><svg class="i" aria-hidden="true"><use href="#i-close"/></svg><span class="visually-hidden"></span></button></form></header><div class="inside"></div>`;
  one("h2", dialog).textContent = title;
  one(".visually-hidden", dialog).textContent = t("close");
  one(".inside", dialog).innerHTML = html;
  openNewDialog(dialog);
  const field = document.activeElement;
  if (!arriving.typed || !isTyping(field)) return;
  field.value += arriving.typed;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function typeAhead(event) {
  if (event.key === "Escape") arriving.abort();
  else if (event.key === "Backspace") arriving.typed = arriving.typed.slice(0, -1);
  else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey) arriving.typed += event.key;
  else return;
  event.preventDefault();
}

// The keys that somebody chose, each with the one that it stands for; empty for none.
const keyTranslations = JSON.parse(one("#keymap")?.textContent ?? "{}");

function press(pressed) {
  const key = keyTranslations[pressed] ?? pressed;
  if (!key) return false;
  const own = OWN[key];
  if (own) own();
  const named = own ? null : one(`[data-key="${CSS.escape(key)}"]`);
  if (named?.matches("input")) named.focus();
  else named?.click();
  if (named?.parentElement.matches(".menu[open]")) enter(named.parentElement);
  return Boolean(own || named);
}

const isTyping = (target) => target.closest?.("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");
const isControl = (target, key) => (key === "Enter" || key === " ") && target.closest?.("a, button, summary, input, audio, video");

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  if (arriving) return typeAhead(event);
  if (event.ctrlKey && event.key === "k" && !allOpen("dialog[open]").length && press("Ctrl+K")) return event.preventDefault();
  if (document.documentElement.dataset.keys === "off" && event.key !== "Escape") return;
  // What is open over the page has the keyboard for itself.
  if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target) || allOpen(OVER).length) return;
  if (isControl(event.target, event.key)) return;
  const key = event.key === " " && event.shiftKey ? "shift+ " : event.key;
  const both = before && `${before} ${key}`;
  clearTimeout(forget);
  before = "";
  if ((both && press(both)) || press(key)) return event.preventDefault();
  before = key;
  forget = setTimeout(() => (before = ""), PATIENCE);
});

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-opens-page]");
  if (!link || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  openPage(link.dataset.opensPage, link.title || link.textContent);
});
