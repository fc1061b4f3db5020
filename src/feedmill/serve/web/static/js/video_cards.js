// Video cards: a click replaces the picture with the player. Nothing is loaded from the video's site before that.

import { one } from "./page.js";

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
