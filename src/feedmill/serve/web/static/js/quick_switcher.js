// The box that goes to a place by its name: narrows its list as one types, and arrows move in it, as in the sidebar's feeds.

import { all, one } from "./page.js";

const box = (element) => element.closest?.("[data-go]");
const shown = (within) => all(".places li:not([hidden]) a, .feeds li > a", within);

document.addEventListener("input", ({ target }) => {
  const within = box(target);
  // The server filters the feeds of the sidebar, of which the page has only some.
  if (!within || within.dataset.go === "rows") return;
  const words = target.value.toLowerCase().split(/\s+/);
  for (const item of all(".places li", within)) {
    const name = one(".name", item).textContent.toLowerCase();
    item.hidden = !words.every((word) => name.includes(word));
  }
  one("[data-none]", within).hidden = shown(within).length > 0;
});

document.addEventListener("keydown", (event) => {
  const within = box(event.target);
  if (!within || !["ArrowDown", "ArrowUp"].includes(event.key)) return;
  event.preventDefault();
  const every = [...all("input[type=search]", within), ...shown(within)];
  const next = every.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1);
  every[Math.max(0, Math.min(next, every.length - 1))].focus();
});

// Enter goes to the first that is left.
document.addEventListener("submit", (event) => {
  const first = event.target.matches("[role=search]") && box(event.target) && shown(box(event.target))[0];
  if (!first) return;
  event.preventDefault();
  location.assign(first.href);
});
