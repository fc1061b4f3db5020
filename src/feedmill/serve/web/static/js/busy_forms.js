// A form that takes a while says so in its button (`data-busy`), and is not sent twice.

let busy = null;

document.addEventListener("submit", ({ target }) => {
  const button = target.querySelector("button[data-busy]");
  if (!button) return;
  busy = { button, words: button.textContent };
  // Afterwards: what is disabled is not sent.
  setTimeout(() => Object.assign(button, { disabled: true, textContent: button.dataset.busy }));
});

// Who comes back finds the form as it was.
addEventListener("pageshow", () => busy && Object.assign(busy.button, { disabled: false, textContent: busy.words }));
