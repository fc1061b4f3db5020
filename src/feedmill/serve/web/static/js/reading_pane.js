// The reading pane: an article beside its list where there is room, over it where there is not.

import { mustSignIn, one, showToast, t } from "./page.js";
import { apply, current, list, point, rowOf, step } from "./rows.js";

const frame = one(".frame");
const pane = one(".pane");
const here = () => location.pathname + location.search;
let address = here();
let loading = null;

export const isOpen = () => Boolean(pane) && frame.classList.contains("reading");
export const openId = () => (isOpen() ? pane.dataset.id : one(".article")?.dataset.id);

export async function open(row, { push = true } = {}) {
  const link = one(".title", row);
  if (!pane) return location.assign(link.href);
  point(row);
  const html = await fetchArticle(link.href);
  if (html === null) return;
  const wasOpen = isOpen();
  fill(html, row.dataset.id);
  if (push) remember(row.dataset.id, link.href, wasOpen);
  if (row.classList.contains("unread") && document.documentElement.dataset.marks !== "manual") apply("read", row.dataset.id);
  row.scrollIntoView({ block: "nearest" });
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
  pane.innerHTML = html;
  pane.dataset.id = id;
  pane.scrollTop = 0;
  frame.classList.add("reading");
  one(".row.opened", list)?.classList.remove("opened");
  rowOf(id)?.classList.add("opened");
  window.htmx?.process(pane);
  pane.focus({ preventScroll: true });
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
  loading?.abort();
  if (history.state?.isOurs) return history.back();
  history.replaceState(null, "", list.dataset.view);
  address = here();
  close();
}

function close() {
  if (!isOpen()) return;
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
  address = here();
  const row = state?.item && rowOf(state.item);
  if (row) open(row, { push: false });
  else if (state?.item || location.pathname !== list.dataset.view) location.reload();
  else close();
});

// A page that came with its article begins where the reader was.
if (isOpen()) current()?.scrollIntoView({ block: "center" });

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
