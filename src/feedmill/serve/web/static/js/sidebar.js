// The feed list of the sidebar: its rows are fetched when they come into sight, and groups stay as they are left.

import { all, one, send } from "./page.js";

const scroller = one(".feeds-part");
const AHEAD = 600;

const near = scroller && new IntersectionObserver(
  (seen) => seen.forEach(({ target, isIntersecting }) => isIntersecting && fill(target)),
  { root: scroller, rootMargin: `${AHEAD}px 0px` },
);

// A gap is as high as the rows that it stands for, so nothing moves when they arrive.
function watchGaps() {
  const height = one(".feeds li:not(.gap)")?.offsetHeight || 32;
  for (const gap of all(".gap", scroller)) {
    gap.style.height = `${(gap.dataset.last - gap.dataset.first) * height}px`;
    near.observe(gap);
  }
}

async function fill(gap) {
  near.unobserve(gap);
  const { first, last } = gap.dataset;
  const above = scroller.getBoundingClientRect().top - gap.getBoundingClientRect().top;
  const place = Number(first) + Math.max(0, Math.floor((above / gap.offsetHeight) * (last - first)));
  const at = one("[name=at]", scroller).value;
  const response = await fetch(`/sidebar?${new URLSearchParams({ first, last, near: place, at })}`, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (!response?.ok || !gap.isConnected) return;
  gap.outerHTML = await response.text();
  watchGaps();
}

if (scroller) {
  watchGaps();
  document.addEventListener("htmx:after:swap", watchGaps);
}

document.addEventListener("click", ({ target }) => {
  const group = target.closest?.(".shelf > summary")?.parentElement;
  if (group) send("/sidebar", [["group", `${group.dataset.group}:${group.open ? "closed" : "open"}`]]);
});
