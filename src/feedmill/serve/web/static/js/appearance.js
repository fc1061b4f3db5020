// Applies and saves theme and typography as soon as they are chosen.

import { send } from "./page.js";

document.addEventListener("change", ({ target }) => {
  const form = target.closest?.("form[data-live-appearance]");
  if (!form) return;
  if (target.name in document.documentElement.dataset) document.documentElement.dataset[target.name] = target.value;
  send("/appearance", [[target.name, target.value], ["quiet", "yes"]]);
});
