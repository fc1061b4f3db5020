// What is selected in an article stands in the field of the menu that mutes and follows.

import { one } from "./page.js";

const LONGEST = 100;
let selected = "";

const read = () => (selected = String(getSelection()).trim());

// Before the click: it ends the selection.
document.addEventListener("pointerdown", ({ target }) => target.closest?.(".mute-menu > summary") && read(), true);
document.addEventListener("keydown", () => (selected = ""), true);

document.addEventListener("toggle", ({ target }) => {
  if (!target.matches(".mute-menu[open]")) return;
  const words = selected || read();
  if (words && words.length <= LONGEST) one("[name=text]", target).value = words.replace(/\s+/g, " ");
}, true);
