// Shared by all scripts: texts, the CSRF token, and messages to the user.

export const one = (selector, within = document) => within.querySelector(selector);
export const all = (selector, within = document) => [...within.querySelectorAll(selector)];
// By class or tag the browser knows its elements; a selector looks at each of them, of which a long list has many.
export const openOne = (...found) => found.flatMap((each) => [...each]).find((each) => each.open);
export const menus = document.getElementsByClassName("menu");
export const dialogs = document.getElementsByTagName("dialog");
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
