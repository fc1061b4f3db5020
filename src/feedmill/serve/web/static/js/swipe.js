// A finger on a row: moved to the right it is read or unread, to the left it waits for later, held it opens a menu.

import { openMenu } from "./row_menu.js";
import { list, toggle } from "./rows.js";

const FAR = 72;
const STEEP = 0.6;
const STILL = 10;
const HELD = 500;
let begun = null;
let holding = 0;

const at = (event) => ({ x: event.changedTouches[0].clientX, y: event.changedTouches[0].clientY });
const moved = (event) => ({ across: at(event).x - begun.x, along: at(event).y - begun.y });

function end() {
  clearTimeout(holding);
  begun = null;
}

list?.addEventListener("touchstart", (event) => {
  end();
  const row = event.target.closest(".row");
  if (!row || event.touches.length > 1) return;
  begun = { row, ...at(event) };
  // The words of an article can be selected, as anywhere.
  if (!event.target.closest(".body")) holding = setTimeout(hold, HELD);
}, { passive: true });

function hold() {
  begun.isHeld = true;
  openMenu(begun.row);
}

list?.addEventListener("touchmove", (event) => {
  if (!begun) return;
  const { across, along } = moved(event);
  if (Math.hypot(across, along) > STILL) clearTimeout(holding);
}, { passive: true });

list?.addEventListener("touchend", (event) => {
  if (!begun) return;
  const { row, isHeld } = begun;
  const { across, along } = moved(event);
  end();
  // What was held is not also clicked.
  if (isHeld) event.preventDefault();
  else if (Math.abs(across) > FAR && Math.abs(along) < Math.abs(across) * STEEP) toggle(across > 0 ? "read" : "later", row.dataset.id);
});

list?.addEventListener("touchcancel", end);

// The browser's own menu would come over ours.
list?.addEventListener("contextmenu", (event) => begun && !event.target.closest(".body") && event.preventDefault());
