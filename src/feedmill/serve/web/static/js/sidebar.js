// The feed list of the sidebar: fetches its rows when they come into sight, opens their menus, and lets them be dragged.

import { all, allOpen, fetchPart, one, openNewDialog, send, showToast, t } from "./page.js";

const AHEAD = 600;
const HELD = 500;
const ROW = ".feeds li:not(.gap)";
const part = one(".feeds-part");

const near = part && new IntersectionObserver(
  (seen) => seen.forEach(({ target, isIntersecting }) => isIntersecting && fill(target)),
  { root: part, rootMargin: `${AHEAD}px 0px` },
);

// A gap is as high as the rows that it stands for, so nothing moves when they arrive.
function watchGaps() {
  const height = one(".feeds li:not(.gap)")?.offsetHeight || 32;
  for (const gap of all(".gap", part)) {
    gap.style.height = `${(gap.dataset.last - gap.dataset.first) * height}px`;
    near.observe(gap);
  }
}

const rows = (which) => fetchPart(`/sidebar?${new URLSearchParams({ ...which, at: one("[name=at]", part).value })}`);

async function fill(gap) {
  near.unobserve(gap);
  const { first, last } = gap.dataset;
  const above = part.getBoundingClientRect().top - gap.getBoundingClientRect().top;
  const place = Number(first) + Math.max(0, Math.floor((above / gap.offsetHeight) * (last - first)));
  const response = await rows({ first, last, near: place });
  if (!response?.ok || !gap.isConnected) return;
  gap.outerHTML = await response.text();
  watchGaps();
}

// The list as the server has it now.
async function redraw() {
  const response = await rows({});
  if (!response?.ok) return;
  one("#feeds").innerHTML = await response.text();
  watchGaps();
}

if (part) {
  watchGaps();
  document.addEventListener("htmx:after:swap", watchGaps);
}

document.addEventListener("click", ({ target }) => {
  const group = target.closest?.(".shelf > summary")?.parentElement;
  if (group) send("/sidebar", [["group", `${group.dataset.group}:${group.open ? "closed" : "open"}`]]);
});

// The menu of a row: by the right button, the menu key, a long press, or the button of the row.

const more = Object.assign(document.createElement("button"), { type: "button", className: "tool row-more", title: t("menu") });
more.innerHTML = '<svg class="i" aria-hidden="true"><use href="#i-more"/></svg>';
let holding = 0;
let isHeld = false;

// One button for all rows: it is in the row that has the mouse or the focus.
function offer({ target }) {
  const row = target.closest(ROW);
  if (row && row !== more.parentElement && document.activeElement !== more) row.append(more);
}

async function openMenu(row, x, y) {
  const link = one("a", row);
  const query = row.dataset.in ? `?from=${row.dataset.in}` : "";
  const response = await fetchPart(`${link.pathname}/menu${query}`);
  if (!response?.ok) return showToast(t("failed"), "failed");
  if (allOpen("dialog[open]").length) return;
  const menu = Object.assign(document.createElement("dialog"), { className: "row-menu", ariaLabel: one(".name", link).textContent });
  menu.innerHTML = await response.text();
  menu.addEventListener("keydown", move);
  menu.addEventListener("submit", (event) => submit(event, menu));
  openNewDialog(menu);
  if (!matchMedia("(min-width: 800px)").matches) return;
  const { width, height } = menu.getBoundingClientRect();
  Object.assign(menu.style, { margin: 0, left: `${Math.min(x, innerWidth - width - 8)}px`, top: `${Math.max(8, Math.min(y, innerHeight - height - 8))}px` });
}

function move(event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.target.matches("select")) return;
  event.preventDefault();
  const every = all("a, button, select, input:not([type=hidden])", event.currentTarget);
  every[(every.indexOf(event.target) + by + every.length) % every.length].focus();
}

// What is done leads to no other page: the answer is a redirect, and this page shows what it says.
async function submit(event, menu) {
  menu.close();
  if (!event.target.matches("[data-stays]")) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(event.target, event.submitter));
  const response = await fetch(event.target.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (response?.type === "opaqueredirect") location.reload();
  else showToast(t("failed"), "failed");
}

function hold(row) {
  isHeld = true;
  openMenu(row, 0, 0);
}

part?.addEventListener("pointerover", offer);
part?.addEventListener("focusin", offer);
part?.addEventListener("contextmenu", (event) => {
  const row = event.target.closest(ROW);
  if (!row) return;
  event.preventDefault();
  if (isHeld) return;
  const { left, bottom } = row.getBoundingClientRect();
  openMenu(row, event.clientX || left, event.clientY || bottom);
});
more.addEventListener("click", () => {
  const { left, bottom } = more.getBoundingClientRect();
  openMenu(more.parentElement, left, bottom);
});

part?.addEventListener("touchstart", ({ target, touches }) => {
  const row = target.closest(ROW);
  clearTimeout(holding);
  isHeld = false;
  if (row && touches.length === 1) holding = setTimeout(() => hold(row), HELD);
}, { passive: true });
for (const kind of ["touchmove", "touchcancel"]) part?.addEventListener(kind, () => clearTimeout(holding), { passive: true });
part?.addEventListener("touchend", (event) => {
  clearTimeout(holding);
  // What was held is not also clicked.
  if (isHeld) event.preventDefault();
});

// Dragging: a feed into a folder, a folder before, after or into another.

let dragged = null;
let target = null;

const idOf = (row) => one("a", row)?.pathname.split("/").pop();
const isFolder = (row) => row.matches(".folder");

// Where it would go: the row, and how.
function aim({ target: under, clientY }) {
  const row = under.closest?.(ROW);
  if (!row || row === dragged) return null;
  if (!isFolder(dragged) || !isFolder(row)) return { row, place: "into" };
  const { top, height } = row.getBoundingClientRect();
  const share = (clientY - top) / height;
  return { row, place: share < 0.3 ? "before" : share > 0.7 ? "after" : "into" };
}

function point(next) {
  if (target) delete target.row.dataset.drop;
  target = next;
  if (target) target.row.dataset.drop = target.place;
}

async function drop() {
  const { row, place } = target;
  const folder = isFolder(row) ? idOf(row) : row.dataset.in ?? "";
  const moved = isFolder(dragged)
    ? send(`/folders/${idOf(dragged)}/move`, [["beside", folder], ["place", place]])
    : send(`/feed/${idOf(dragged)}/move`, [["from", dragged.dataset.in ?? ""], ["to", folder]]);
  const response = await moved.catch(() => null);
  if (!response?.ok) showToast(t("failed"), "failed");
  redraw();
}

part?.addEventListener("dragstart", (event) => {
  dragged = event.target.closest?.(ROW);
  if (dragged) event.dataTransfer.effectAllowed = "move";
});
part?.addEventListener("dragover", (event) => {
  if (!dragged) return;
  point(aim(event));
  if (target) event.preventDefault();
});
part?.addEventListener("drop", (event) => {
  if (!target) return;
  event.preventDefault();
  drop();
});
part?.addEventListener("dragend", () => {
  point(null);
  dragged = null;
});
