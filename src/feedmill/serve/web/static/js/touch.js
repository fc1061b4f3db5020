// A finger that moves a row aside: to the right it is read or unread, to the left it waits for later.

import { list, toggle } from "./rows.js";

const FAR = 72;
const STEEP = 0.6;
let begun = null;

const at = (event) => ({ x: event.changedTouches[0].clientX, y: event.changedTouches[0].clientY });

list?.addEventListener("touchstart", (event) => {
  const row = event.target.closest(".row");
  begun = row && event.touches.length === 1 ? { row, ...at(event) } : null;
}, { passive: true });

list?.addEventListener("touchend", (event) => {
  if (!begun) return;
  const { x, y } = at(event);
  const [across, along] = [x - begun.x, y - begun.y];
  if (Math.abs(across) > FAR && Math.abs(along) < Math.abs(across) * STEEP) toggle(across > 0 ? "read" : "later", begun.row.dataset.id);
  begun = null;
}, { passive: true });
