// The reading pane: an article beside its list where there is room, over it where there is not.

import { mustSignIn, one, showToast, t } from "./page.js";
import { OPPOSITE, apply, current, display, list, more, point, rowOf, step } from "./rows.js";

const frame = one(".frame");
const pane = one(".pane");
const here = () => location.pathname + location.search;
let address = here();
// An article that was fetched ahead is as good as new for so long.
const FRESH = 600_000;
const SOON = 100;
const ahead = new Map();
let loading = null;
let turn = 0;
let opened = list && one(".row.opened", list);

export const isOpen = () => Boolean(pane) && frame.classList.contains("reading");
export const openId = () => (isOpen() ? pane.dataset.id : one(".article")?.dataset.id);

export async function open(row, { push = true } = {}) {
  const link = one(".title", row);
  if (!pane) return location.assign(link.href);
  const [mine, before] = [++turn, current()];
  point(row);
  const html = (await takeAhead(link.href)) ?? (await fetchArticle(link.href));
  if (html === null || mine !== turn) return;
  const wasOpen = isOpen();
  fill(html, row.dataset.id);
  // The address can wait until the reader pauses: with it the browser saves the state of all controls of a long list.
  if (push && wasOpen) setTimeout(() => mine === turn && remember(row.dataset.id, link.href, true), SOON);
  else if (push) remember(row.dataset.id, link.href, false);
  if (row.classList.contains("unread") && document.documentElement.dataset.marks !== "manual") apply("read", row.dataset.id);
  // Last: the focus needs the layout of all that has changed.
  pane.focus({ preventScroll: true });
  if (!wasOpen) row.scrollIntoView({ block: "nearest" });
  // The one that comes next, in the direction in which the reader goes.
  fetchAhead(before && before === step(1, row) ? step(-1, row) : step(1, row));
}

function fetchAhead(row) {
  const href = row && one(".title", row).href;
  if (!href || ahead.has(href) || navigator.connection?.saveData) return;
  ahead.clear();
  const fetched = fetch(href, { priority: "low", headers: { "HX-Request": "true", "HX-Preloaded": "true" } });
  const html = fetched.then((response) => (response.ok && !response.headers.has("HX-Redirect") ? response.text() : null)).catch(() => null);
  ahead.set(href, { html, at: Date.now() });
}

async function takeAhead(href) {
  const { html, at } = ahead.get(href) ?? {};
  ahead.delete(href);
  const text = Date.now() - at < FRESH ? await html : null;
  // The worker keeps what was opened, for when there is no connection.
  if (text) navigator.serviceWorker?.controller?.postMessage({ href, text });
  return text;
}

async function fetchArticle(href) {
  loading?.abort();
  loading = new AbortController();
  const bar = setTimeout(() => frame.classList.add("busy"), 200);
  try {
    const response = await fetch(href, { signal: loading.signal, headers: { "HX-Request": "true" } });
    return mustSignIn(response) ? null : await response.text();
  } catch (error) {
    if (error.name !== "AbortError") showToast(t("failed"), "failed");
    return null;
  } finally {
    clearTimeout(bar);
    frame.classList.remove("busy");
  }
}

function fill(html, id) {
  // First: afterwards it would need the layout of the new article.
  pane.scrollTop = 0;
  pane.innerHTML = html;
  pane.dataset.id = id;
  // Marks that were made since it was fetched.
  const marks = rowOf(id)?.classList;
  for (const [action, name] of [["star", "starred"], ["later", "later"]]) if (marks) display(marks.contains(name) ? action : OPPOSITE[action], id);
  frame.classList.add("reading");
  opened?.classList.remove("opened");
  opened = rowOf(id);
  opened?.classList.add("opened");
  if (opened && !step(1, opened) && !more() && one(".onward")) pane.append(one(".onward").cloneNode(true));
  window.htmx?.process(pane);
  document.title = `${one("h1", pane)?.textContent.trim() ?? ""} · Feedmill`;
}

// `isOurs`: the list stands before the article in the browser's history, because it was opened from there.
function remember(item, href, wasOpen) {
  if (wasOpen) history.replaceState({ item, isOurs: history.state?.isOurs }, "", href);
  else history.pushState({ item, isOurs: true }, "", href);
  address = here();
}

// What was opened here is left by going back, so that no address stands twice in the browser's history.
export function leave() {
  turn += 1;
  loading?.abort();
  if (history.state?.isOurs) return history.back();
  history.replaceState(null, "", list.dataset.view);
  address = here();
  close();
}

function close() {
  if (!isOpen()) return;
  // As long as it is shown: afterwards the browser would keep it, for the next article.
  pane.scrollTop = 0;
  frame.classList.remove("reading");
  pane.replaceChildren();
  rowOf(pane.dataset.id)?.classList.remove("opened");
  const row = current() ?? rowOf(pane.dataset.id);
  document.title = list.dataset.title;
  one(".title", row ?? document)?.focus({ preventScroll: true });
  row?.scrollIntoView({ block: "nearest" });
}

addEventListener("popstate", ({ state }) => {
  // A jump within an article, say to a footnote, opens and closes nothing.
  if (!list || here() === address) return;
  turn += 1;
  address = here();
  const row = state?.item && rowOf(state.item);
  if (row) open(row, { push: false });
  else if (state?.item || location.pathname !== list.dataset.view) location.reload();
  else close();
});

// A page that came with its article begins where the reader was.
if (isOpen()) current()?.scrollIntoView({ block: "center" });
if (list && pane && matchMedia("(hover: hover)").matches) fetchAhead(step(1));

const isPlain = (event) => !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button);

document.addEventListener("click", (event) => {
  if (!isPlain(event)) return;
  const title = event.target.closest?.(".row .title");
  if (title && pane) {
    event.preventDefault();
    open(title.closest(".row"));
  } else if (event.target.closest?.("[data-closes-pane]") && isOpen()) {
    event.preventDefault();
    leave();
  } else if (event.target.closest?.(".pane :is(a[rel=next], a[rel=prev])")) {
    // The neighbours of the pane's article are the rows beside it, as far as they are there.
    const row = step(event.target.closest("a").rel === "next" ? 1 : -1);
    if (!row) return;
    event.preventDefault();
    open(row);
  }
});
