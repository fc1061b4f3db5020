// Shows in the button of a slow form (`data-busy`) that it was sent, and prevents sending it twice.

let busy = null;

document.addEventListener("submit", ({ target }) => {
  const button = target.querySelector("button[data-busy]");
  if (!button) return;
  busy = { button, words: button.textContent };
  // After the submission: a disabled button is not sent.
  setTimeout(() => Object.assign(button, { disabled: true, textContent: button.dataset.busy }));
});

// Restores the button when the user comes back to the page.
addEventListener("pageshow", () => busy && Object.assign(busy.button, { disabled: false, textContent: busy.words }));
