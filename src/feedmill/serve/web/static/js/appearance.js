// Theme and typography change as they are chosen, and are kept at once.

import { send } from "./page.js";

document.addEventListener("change", ({ target }) => {
  const form = target.closest?.("form[data-live-appearance]");
  if (!form) return;
  if (target.name in document.documentElement.dataset) document.documentElement.dataset[target.name] = target.value;
  send("/appearance", [[target.name, target.value], ["quiet", "yes"]]);
});
