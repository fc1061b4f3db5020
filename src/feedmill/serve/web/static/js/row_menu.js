// The menu of a row, for touch screens, which have neither keys nor buttons on hover.

import { markSide } from "./bulk_marks.js";
import { all, one, openNewDialog, t } from "./page.js";
import { pick } from "./rows.js";

export function openMenu(row) {
  const menu = document.createElement("dialog");
  menu.className = "row-menu";
  const title = document.createElement("h2");
  title.dir = "auto";
  title.textContent = one(".title", row).textContent;
  menu.setAttribute("aria-label", title.textContent);
  menu.append(title, ...all(".marks > *", row).map(item), markBeside(row, "above", "up", t("mark_above")), markBeside(row, "below", "down", t("mark_below")), select(row));
  menu.addEventListener("click", () => menu.close());
  openNewDialog(menu);
}

function item(mark) {
  const made = line(one(".i", mark).cloneNode(true), mark.title, () => mark.click());
  if (mark.ariaPressed !== null) made.setAttribute("aria-pressed", mark.ariaPressed);
  return made;
}

const markBeside = (row, side, icon, words) => line(iconOf(icon), words, () => markSide(side, row));
const select = (row) => line(iconOf("rows"), t("select"), () => pick(row));

function iconOf(name) {
  const icon = one("svg.i").cloneNode(true);
  one("use", icon).setAttribute("href", `#i-${name}`);
  return icon;
}

function line(icon, words, does) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "item" });
  made.append(icon, words);
  made.addEventListener("click", does);
  return made;
}
