// Updates the unread counts periodically.

import { one } from "./page.js";

const EVERY = 60_000;

async function updateCounts() {
  if (document.visibilityState !== "visible") return;
  const response = await fetch("/counts", { headers: { "HX-Request": "true" } }).catch(() => null);
  if (response?.ok) document.dispatchEvent(new CustomEvent("counts", { detail: await response.json() }));
}

if (one("#count-unread")) {
  setTimeout(updateCounts, 2000);
  setInterval(updateCounts, EVERY);
}
