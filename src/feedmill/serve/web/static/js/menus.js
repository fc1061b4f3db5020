// Menus (`details.menu`): one at a time. An open menu has the focus, and gives it back to where it was.

import { all, allOpen, one } from "./page.js";

const CONTROLS = "a[href], button, input:not([type=hidden]), select, textarea, summary";
const before = new WeakMap();

const controls = (menu) => all(CONTROLS, one(".sheet", menu)).filter((each) => each.checkVisibility());

// Focuses the text field of the menu, if it has one. Not on phones, whose keyboard would cover the menu.
export function enter(menu) {
  if (before.has(menu)) return;
  before.set(menu, document.activeElement);
  focusField(menu) || controls(menu)[0]?.focus();
}

function focusField(menu) {
  const field = matchMedia("(hover: none)").matches ? null : controls(menu).find((each) => each.matches("input:not([type])"));
  field?.focus();
  return field;
}

function leave(menu) {
  const back = before.get(menu);
  before.delete(menu);
  for (const part of all(".part[open]", menu)) part.open = false;
  if (!back || !(menu.contains(document.activeElement) || document.activeElement === document.body)) return;
  (back.isConnected && back !== document.body ? back : one("summary", menu)).focus({ preventScroll: true });
}

function close(menu) {
  menu.open = false;
  leave(menu);
}

document.addEventListener("toggle", ({ target }) => {
  if (target.matches(".menu")) (target.open ? enter : leave)(target);
  else if (target.matches(".part[open]")) focusField(target.closest(".menu"));
}, true);

document.addEventListener("click", (event) => {
  for (const menu of allOpen(".menu[open]")) if (!menu.contains(event.target)) close(menu);
  const item = event.target.closest?.(".menu .item");
  const menu = item?.closest(".menu");
  if (item?.matches("summary") && !menu.open) {
    // A part of a closed menu, by its key: at once, because what is typed next is for its field.
    event.preventDefault();
    item.parentElement.open = menu.open = true;
    enter(menu);
  } else if (menu?.open && !item.matches("summary")) close(menu);
});

// Closes a menu after its action.
document.addEventListener("submit", ({ target }) => {
  const menu = target.closest(".menu");
  if (menu) close(menu);
});

// Closes a menu when Tab leaves it.
document.addEventListener("focusout", ({ target, relatedTarget }) => {
  const menu = target.closest?.(".menu[open]");
  if (!menu || !relatedTarget || menu.contains(relatedTarget)) return;
  before.delete(menu);
  menu.open = false;
});

document.addEventListener("keydown", (event) => {
  const [menu] = allOpen(".menu[open]");
  if (!menu || event.isComposing) return;
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (event.key === "Escape") close(menu);
  else if (by && !event.target.matches("select, textarea, [type=radio]")) {
    const every = controls(menu);
    every[(every.indexOf(event.target) + by + every.length) % every.length]?.focus();
  } else return;
  event.preventDefault();
});
