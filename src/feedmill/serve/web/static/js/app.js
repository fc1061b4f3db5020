// What scripts add to pages that work without them.

// First: it gives the list back before the reading pane looks for its row.
import "./search_over_list.js";
import "./busy_forms.js";
import "./feed_table.js";
import "./reorder_list.js";
import "./quick_switcher.js";
import "./job_progress.js";
import "./keyboard.js";
import "./reading_pane.js";
import "./appearance.js";
import "./article_images.js";
import "./video_cards.js";
import "./unread_counts.js";
import "./sidebar.js";
import "./media_player.js";
import "./news.js";
import "./pull_to_refresh.js";
import "./swipe.js";
import "./mark_read_on_scroll.js";
import "./mute_selection.js";
import "./push.js";
import { all, one, openDialog, showToast, t } from "./page.js";

const A_YEAR = 365 * 86400;

// The zone that times are shown in from the next page on.
document.cookie = `feedmill_zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=${A_YEAR}; samesite=lax`;

// A list that could not go on says so where it stopped; what else a reader asked for, and nobody answered, below.
document.addEventListener("htmx:error", ({ target, detail }) => {
  if (target.matches?.(".more a")) target.textContent = t("more_failed");
  else if (["click", "submit"].includes(detail.ctx?.sourceEvent?.type) && detail.error?.name !== "AbortError") showToast(t("failed"), "failed");
});

// The message of the last change goes by itself, with its chance to undo.
const endToasts = () => all("#toasts > .toast:not([data-ends])").forEach((toast) => {
  toast.dataset.ends = "";
  setTimeout(() => toast.remove(), 10_000);
});
document.addEventListener("htmx:after:swap", endToasts);
endToasts();

// A link is shared as the system does it; where it can't, it is copied.
document.addEventListener("click", async (event) => {
  const { copies: url, shares: title } = event.target.closest?.("[data-copies]")?.dataset ?? {};
  if (!url) return;
  // Whoever closes the system's dialog has changed their mind.
  if (title !== undefined && navigator.share) return navigator.share({ title, url }).catch(() => {});
  await navigator.clipboard.writeText(url);
  showToast(t("copied"));
});

// What opens a dialog of the page.
document.addEventListener("click", (event) => {
  const opener = event.target.closest?.("[data-opens]");
  const dialog = opener && document.getElementById(opener.dataset.opens);
  if (!dialog) return;
  event.preventDefault();
  openDialog(dialog);
});

// The current place of a long sidebar, and of tabs, is in sight.
one('.sidebar [aria-current="page"]')?.scrollIntoView({ block: "nearest" });
one('.tabs [aria-current="page"]')?.scrollIntoView({ block: "nearest", inline: "center" });

// Beside the pages, for when there is no connection; browsers have it on secure origins only.
navigator.serviceWorker?.register("/worker.js").catch(() => {});
