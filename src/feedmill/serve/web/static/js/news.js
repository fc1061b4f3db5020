// Offers to load the entries that arrived since the list was loaded; never inserts them. The server counts them, by ids.

import { one, t } from "./page.js";
import { list, rows } from "./rows.js";

const EVERY = 60_000;
const offer = one(".news");
let known = Infinity;
let asked = Date.now();

// Asks the server when the counts grew by more than this page has marked, or after a while.
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
  // Entries that were loaded with a further page are not new.
  const here = rows().filter((row) => Number(row.dataset.id) > Number(asOf) && row.classList.contains("unread"));
  const n = (await response.json()).n - here.length;
  offer.hidden = n < 1;
  offer.textContent = t("news", { n });
  // In a narrow bar.
  offer.dataset.fresh = t("fresh", { n });
}
