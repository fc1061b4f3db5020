// The table of feeds: tick all at once, or a range with shift; and the dialog that adds feeds.

import { all, one, t } from "./page.js";

const form = one("form[data-picks]");
const every = one("[data-picks-all]");
let last = null;

function showSelection() {
  const picks = all(".pick", form);
  const n = picks.filter((pick) => pick.checked).length;
  one(".chosen", form).textContent = n ? t("selected", { n }) : "";
  every.checked = n === picks.length;
  every.indeterminate = n > 0 && n < picks.length;
}

if (form) {
  every.closest("label").hidden = false;
  every.addEventListener("change", () => {
    for (const pick of all(".pick", form)) pick.checked = every.checked;
    showSelection();
  });
  form.addEventListener("click", (event) => {
    if (!event.target.matches(".pick")) return;
    const picks = all(".pick", form);
    const here = picks.indexOf(event.target);
    if (event.shiftKey && last !== null)
      for (const pick of picks.slice(Math.min(here, last), Math.max(here, last) + 1)) pick.checked = event.target.checked;
    last = here;
    showSelection();
  });
  showSelection();
}

// Does not reconnect to a stream that has ended. (Closing it by `hx-sse:close` would leave an unhandled rejection.)
document.addEventListener("done", ({ target }) => (target.dataset.ended = "yes"));
document.addEventListener("htmx:sse:before:connection", (event) => event.target.dataset?.ended && event.preventDefault());

// Cancels discovery: the form stays, and the server stops its requests.
document.addEventListener("click", (event) => {
  const stop = event.target.closest?.("[data-stops-looking]");
  if (!stop) return;
  event.preventDefault();
  const form = stop.closest("form");
  window.htmx.trigger(one("[hx-post='/subscribe/discover']", form), "htmx:abort");
  one("#found", form).replaceChildren();
  one("#f-url", form).focus();
});

// Reloads the page when a dialog that added feeds is closed, for the sidebar. The event does not bubble.
document.addEventListener("close", ({ target }) => one("[data-added]", target) && location.reload(), true);
