// Shared by all scripts: texts, the CSRF token, and messages to the user.

export const one = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
// Where an open article is. A search of the whole page looks at each element, of which a long list has many.
export const articlePlace = one(".pane") ?? document;
export const csrf = one('meta[name="csrf"]')?.content ?? "";
export const user = one('meta[name="user"]')?.content ?? "";

const words = JSON.parse(one("#words")?.textContent ?? "{}");

export function t(key, values = {}) {
  return words[key].replace(/\{(\w+)\}/g, (_, name) => values[name].toLocaleString?.(document.documentElement.lang) ?? values[name]);
}

// Shows a message; `undo` is called by its button or key, while the message is shown.
export function showToast(text, tone = "done", seconds = 6, undo = null) {
  const toast = document.createElement("div");
  toast.className = `toast ${tone}`;
  toast.innerHTML = '<span></span><button type="button" class="plain" data-key="u"><svg class="i" aria-hidden="true"><use href="#i-undo"/></svg></button>';
  const [words, button] = toast.children;
  words.textContent = text;
  if (undo) button.append(t("undo"));
  else button.remove();
  button.addEventListener("click", () => {
    toast.remove();
    undo();
  });
  one("#toasts").replaceChildren(toast);
  setTimeout(() => toast.remove(), seconds * 1000);
}

// Menus, dialogs and popovers that were opened so far: which are open now is asked of these alone, with each key.
export const OVER = "dialog[open], .menu[open], :popover-open";
const opened = new Set(all(".menu[open]"));
export const allOpen = (selector) => [...opened].filter((each) => each.isConnected && each.matches(selector));

function noteOpening({ target }) {
  for (const each of opened) if (!each.isConnected) opened.delete(each);
  const opens = target.closest?.(".menu, dialog, [popover]");
  if (opens) opened.add(opens);
}

// A menu has its `toggle` only after it has opened; before that it is clicked.
for (const event of ["click", "beforetoggle", "toggle"]) document.addEventListener(event, noteOpening, true);

export function openDialog(dialog) {
  opened.add(dialog);
  dialog.showModal();
}

// A dialog that was made for the moment, and goes when it is closed. A click beside it closes it.
export function openNewDialog(dialog) {
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
  window.htmx?.process(dialog);
  openDialog(dialog);
}

// A part of a page, or JSON; null without a connection.
export const fetchPart = (path) => fetch(path, { headers: { "HX-Request": "true" } }).catch(() => null);

export function send(path, fields) {
  const body = new URLSearchParams(fields);
  body.append("csrf", csrf);
  return fetch(path, { method: "POST", body, keepalive: true, headers: { Accept: "application/json", "HX-Request": "true" } });
}

// Redirects to the sign-in page if the session has ended, as htmx does.
export function mustSignIn(response) {
  const to = response.headers.get("HX-Redirect");
  if (to) location.assign(to);
  return Boolean(to);
}
