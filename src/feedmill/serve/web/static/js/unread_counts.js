// Now and then the counts are asked for; what came meanwhile is offered, never pushed in between.

import { one, t } from "./page.js";
import { list } from "./rows.js";

const EVERY = 60_000;
const bar = one(".news");
const view = list?.dataset.view ?? "";
const isGrowing = /^\/(unread|today|all|folder\/\d+|feed\/\d+)$/.test(view);
let fresh = 0;

const counted = (counts) => {
  const [, kind, id] = view.split("/");
  if (!id) return counts.unread;
  return (kind === "feed" ? counts.feeds : counts.folders)[id] ?? 0;
};
let known = null;

// What this page marks itself changes the count too: only growth beyond it is news.
document.addEventListener("marked", ({ detail }) => {
  if (known !== null) known += detail;
});
document.addEventListener("counts", ({ detail }) => {
  const now = counted(detail);
  if (known !== null && now > known && isGrowing && bar) offer(now - known);
  known = now;
});

function offer(n) {
  fresh += n;
  one("a", bar).textContent = t("news", { n: fresh });
  bar.hidden = false;
}

async function updateCounts() {
  if (document.visibilityState !== "visible") return;
  const response = await fetch("/counts", { headers: { "HX-Request": "true" } }).catch(() => null);
  if (response?.ok) document.dispatchEvent(new CustomEvent("counts", { detail: await response.json() }));
}

if (one("#count-unread")) {
  setTimeout(updateCounts, 2000);
  setInterval(updateCounts, EVERY);
}
