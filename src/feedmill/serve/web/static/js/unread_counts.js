// Receives the counts of the sidebar as server-sent events in one window of this browser, and passes them on to the others.

import { all, fetchPart, one, user } from "./page.js";

const EVERY = 60_000;
const name = `feedmill.counts.${user}`;
const total = one("#count-unread");
const windows = "BroadcastChannel" in window ? new BroadcastChannel(name) : null;
let source = null;
let heard = 0;

function take(counts, isOurs) {
  heard = Date.now();
  if (isOurs) windows?.postMessage(counts);
  if (counts) document.dispatchEvent(new CustomEvent("counts", { detail: counts }));
}

function connect() {
  source = new EventSource("/counts/events");
  source.addEventListener("counts", ({ data }) => take(JSON.parse(data), true));
  source.addEventListener("alive", () => take(null, true));
}

// The window that has the lock holds the stream. Without locks (they need HTTPS) every visible window has one: browsers
// open only six connections to a server.
function listen() {
  if (!navigator.locks) return follow();
  navigator.locks.request(name, () => new Promise((leave) => {
    connect();
    addEventListener("pagehide", leave, { once: true });
  }));
}

function follow() {
  source?.close();
  if (!document.hidden) connect();
}

// Who has heard nothing asks: the stream may be refused, or be held back on its way.
async function updateCounts() {
  if (Date.now() - heard < EVERY) return;
  if (source?.readyState === EventSource.CLOSED && !document.hidden) connect();
  const response = await fetchPart("/counts");
  if (response?.ok) document.dispatchEvent(new CustomEvent("counts", { detail: await response.json() }));
}

if (total) {
  listen();
  setInterval(updateCounts, EVERY);
  windows?.addEventListener("message", ({ data }) => take(data, false));
  addEventListener("pagehide", () => source?.close());
  if (!navigator.locks) document.addEventListener("visibilitychange", follow);
  addEventListener("pageshow", ({ persisted }) => persisted && listen());
  const title = new MutationObserver(entitle);
  title.observe(total, { attributes: true, childList: true });
  title.observe(one("title"), { childList: true });
  entitle();
}

// The number of unread entries is before the title of the window, and at the icon of the installed app.
function entitle() {
  const number = total.hidden ? "" : `(${total.textContent}) `;
  const title = number + document.title.replace(/^\([\d,]+\) /, "");
  if (title !== document.title) document.title = title;
  navigator.setAppBadge?.(total.hidden ? 0 : Number(total.textContent.replace(/\D/g, ""))).catch(() => {});
}

function show(place, text) {
  place.textContent = text;
  place.hidden = !text;
}

document.addEventListener("counts", ({ detail: { unread, feeds, folders, views } }) => {
  // Only there: a long list has many elements.
  for (const place of all(".count", one("#nav"))) {
    const { feed, folderCount, count } = place.dataset;
    const n = feed ? feeds[feed] : folderCount ? folders[folderCount] : count ? views[count] : unread;
    show(place, n ? n.toLocaleString("en") : "");
  }
});
