// What is selected in an article can be muted and followed: it stands among the words of the menu, and in its field.

import { one } from "./page.js";

const LONGEST = 100;
let selected = "";

const read = () => (selected = String(getSelection()).trim().replace(/\s+/g, " "));

// Before the click: it ends the selection.
document.addEventListener("pointerdown", ({ target }) => target.closest?.(".article-menu > summary") && read(), true);
document.addEventListener("keydown", () => (selected = ""), true);

document.addEventListener("toggle", ({ target }) => {
  if (!target.matches(".article-menu[open]")) return;
  const words = selected || read();
  const [term, field] = [one(".subjects .selected", target), one("[name=text]", target)];
  term.hidden = !words || words.length > LONGEST;
  if (term.hidden) return;
  term.textContent = field.value = words;
  term.value = `word:${words}`;
}, true);
