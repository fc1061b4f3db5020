// What came since the list was loaded is offered, never pushed in between. The server counts it, by ids.

import { one, t } from "./page.js";
import { list, rows } from "./rows.js";

const EVERY = 60_000;
const offer = one(".news");
let known = Infinity;
let asked = Date.now();

// The counts only tell when to ask: they grew by more than this page marked, or it is a while ago.
document.addEventListener("marked", ({ detail }) => (known += detail));
document.addEventListener("counts", ({ detail }) => {
  if (offer && (detail.unread > known || Date.now() - asked >= EVERY)) look();
  known = detail.unread;
});

async function look() {
  asked = Date.now();
  const { view, asOf } = list.dataset;
  const response = await fetch(`/news?${new URLSearchParams({ view, after: asOf })}`, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!response?.ok) return;
  // What came and was loaded as a further page is no news.
  const here = rows().filter((row) => Number(row.dataset.id) > Number(asOf) && row.classList.contains("unread"));
  const n = (await response.json()).n - here.length;
  offer.hidden = n < 1;
  offer.textContent = t("news", { n });
}
