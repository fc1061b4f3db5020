// Touch gestures on a row: swiping right marks it read or unread, left for later, holding opens a menu.
// While the row moves, what will be done shows beside it; afterwards it can be undone.

import { one, showToast, t } from "./page.js";
import { openMenu } from "./row_menu.js";
import { OPPOSITE, apply, list } from "./rows.js";

const FAR = 72;
const STEEP = 0.6;
const STILL = 10;
const HELD = 500;
const UNDO_FOR = 10;
let begun = null;
let holding = 0;

const at = (event) => ({ x: event.changedTouches[0].clientX, y: event.changedTouches[0].clientY });
const moved = (event) => ({ across: at(event).x - begun.x, along: at(event).y - begun.y });

// By action: its icon, what it is called, and what is said once it is done.
const ACTIONS = {
  read: ["check", t("swipe_read"), t("swiped_read")],
  unread: ["unread", t("swipe_unread"), t("swiped_unread")],
  later: ["later", t("swipe_later"), t("swiped_later")],
  unlater: ["close", t("swipe_unlater"), t("swiped_unlater")],
};

function end() {
  clearTimeout(holding);
  begun?.row.classList.remove("dragged", "far");
  begun?.hint?.remove();
  begun = null;
}

function actionOf(row, across) {
  if (across > 0) return row.classList.contains("unread") ? "read" : "unread";
  return row.classList.contains("later") ? "unlater" : "later";
}

const isAcross = ({ across, along }) => Math.abs(along) < Math.abs(across) * STEEP;
const isFar = (moved) => Math.abs(moved.across) > FAR && isAcross(moved);

// The row follows the finger, and uncovers what lifting the finger will do.
function drag(move) {
  const { row } = begun;
  begun.isDragged ||= isAcross(move) && Math.abs(move.across) > STILL;
  if (!begun.isDragged) return;
  const action = actionOf(row, move.across);
  if (begun.action !== action) showHint(action);
  row.classList.add("dragged");
  row.classList.toggle("far", isFar(move));
  row.style.setProperty("--dragged", `${move.across}px`);
}

function showHint(action) {
  begun.action = action;
  begun.hint ??= Object.assign(document.createElement("div"), { className: "hint-of-swipe" });
  const [name, words] = ACTIONS[action];
  const icon = one("svg.i").cloneNode(true);
  one("use", icon).setAttribute("href", `#i-${name}`);
  begun.hint.dataset.action = action;
  begun.hint.replaceChildren(icon, words);
  begun.row.append(begun.hint);
}

function markAndOfferUndo(action, id) {
  apply(action, id);
  showToast(ACTIONS[action][2], "done", UNDO_FOR, () => apply(OPPOSITE[action], id));
}

list?.addEventListener("touchstart", (event) => {
  end();
  const row = event.target.closest(".row");
  if (!row || event.touches.length > 1) return;
  begun = { row, ...at(event) };
  // Text of an article can be selected as usual.
  if (!event.target.closest(".body")) holding = setTimeout(hold, HELD);
}, { passive: true });

function hold() {
  begun.isHeld = true;
  openMenu(begun.row);
}

list?.addEventListener("touchmove", (event) => {
  if (!begun) return;
  const move = moved(event);
  if (Math.hypot(move.across, move.along) > STILL) clearTimeout(holding);
  if (!begun.isHeld) drag(move);
}, { passive: true });

list?.addEventListener("touchend", (event) => {
  if (!begun) return;
  const { row, isHeld } = begun;
  const move = moved(event);
  const action = actionOf(row, move.across);
  end();
  // Holding is not also a click.
  if (isHeld) event.preventDefault();
  else if (isFar(move)) markAndOfferUndo(action, row.dataset.id);
});

list?.addEventListener("touchcancel", end);

// Suppresses the browser's own menu.
list?.addEventListener("contextmenu", (event) => begun && !event.target.closest(".body") && event.preventDefault());
