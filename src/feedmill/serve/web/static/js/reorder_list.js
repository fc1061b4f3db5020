// Reorders a list (`data-reorder`, the path that saves it) by dragging an item at its grip, or with the arrow keys there.

import { all, one, send, showToast, t } from "./page.js";

const SOON = 400;
let dragged = null;
let saving = 0;

// The others move around the item: an element that is moved itself loses its focus, and its pointer.
function step(item, by) {
  const other = by > 0 ? item.nextElementSibling : item.previousElementSibling;
  if (!other) return false;
  if (by > 0) item.before(other);
  else item.after(other);
  return true;
}

function moved(item) {
  const list = item.parentElement;
  const items = [...list.children];
  one("[data-moved]").textContent = t("moved", { place: items.indexOf(item) + 1, of: items.length });
  clearTimeout(saving);
  saving = setTimeout(() => save(list), SOON);
}

async function save(list) {
  const response = await send(list.dataset.reorder, all("[data-id]", list).map((each) => ["id", each.dataset.id])).catch(() => null);
  if (!response?.ok) showToast(t("failed"), "failed");
}

document.addEventListener("pointerdown", (event) => {
  const grip = event.target.closest?.("[data-reorder] .grip");
  if (!grip || event.button) return;
  dragged = grip.closest("li");
  dragged.classList.add("dragged");
});

document.addEventListener("pointermove", ({ clientY }) => {
  if (!dragged) return;
  for (const [by, other] of [[-1, dragged.previousElementSibling], [1, dragged.nextElementSibling]]) {
    const place = other?.getBoundingClientRect();
    if (place && (clientY - place.top - place.height / 2) * by > 0) step(dragged, by);
  }
});

function drop() {
  if (!dragged) return;
  dragged.classList.remove("dragged");
  moved(dragged);
  dragged = null;
}

for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, drop);

document.addEventListener("keydown", (event) => {
  const grip = event.target.closest?.("[data-reorder] .grip");
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!grip || !by) return;
  event.preventDefault();
  if (step(grip.closest("li"), by)) moved(grip.closest("li"));
});
