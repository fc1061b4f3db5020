// Video cards: a click replaces the picture with the player. Nothing is loaded from the video's site before that.

import { all, one } from "./page.js";

// With the picture the server has learnt the title.
async function nameCard(still) {
  const response = await fetch(still.dataset.title);
  if (response.ok) one(".name", still.closest(".frame-card")).textContent = await response.text();
}

document.addEventListener("load", ({ target }) => target.matches?.("[data-title]") && nameCard(target), true);
for (const still of all("[data-title]")) if (still.complete && still.naturalWidth) nameCard(still);

document.addEventListener("click", (event) => {
  const card = event.target.closest?.("[data-player]");
  if (!card || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const video = Object.assign(document.createElement("iframe"), {
    className: "video-frame",
    src: card.dataset.player,
    title: one(".name", card).textContent,
    allow: "autoplay; fullscreen; encrypted-media; picture-in-picture",
  });
  card.before(video);
  // The rest of the card stays, as a link to the page of the video.
  card.removeAttribute("data-player");
  one(".still", card)?.remove();
  one("small", card).textContent = card.host.replace("www.", "");
  one("use", card).setAttribute("href", "#i-external");
});
