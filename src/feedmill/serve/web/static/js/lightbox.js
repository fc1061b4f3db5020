// Shows the images of an article in full size: arrows move between them, + and - zoom.

import { all, allOpen, one, openNewDialog, t } from "./page.js";

const SIZES = [1, 1.5, 2, 3, 4, 6];
const SMALL = 60;
const SWIPE = 60;
const IMAGE_FILE = /\.(avif|gif|jpe?g|png|webp)($|\?)/i;

// A link around an image is followed, unless it leads to the image itself.
function isShown(image) {
  const link = image.closest("a");
  return (!link || IMAGE_FILE.test(link.href)) && image.naturalWidth > SMALL && image.naturalHeight > SMALL;
}

function button(does, icon, name) {
  return `<button class="tool" data-does="${does}" title="${name}" aria-label="${name}"><svg class="i" aria-hidden="true"><use href="#i-${icon}"/></svg></button>`;
}

function build() {
  const dialog = Object.assign(document.createElement("dialog"), { className: "lightbox" });
  const buttons = [
    button("back", "back", t("previous_image")),
    button("on", "chevron", t("next_image")),
    button("smaller", "smaller", t("smaller")),
    button("larger", "add", t("larger")),
    button("close", "close", t("close")),
  ];
  dialog.innerHTML = `<div class="stage"><img></div><div class="tools"><p aria-live="polite" dir="auto"></p>${buttons.join("")}</div>`;
  return dialog;
}

export function showImages(image) {
  const images = all("img", image?.closest(".body") ?? one(".article .body") ?? undefined).filter(isShown);
  if (!images.length || allOpen("dialog[open]").length) return;
  const dialog = build();
  const [stage, picture] = [one(".stage", dialog), one("img", dialog)];
  let at = Math.max(0, images.indexOf(image));
  let size = 0;

  const fitted = () => Math.min(picture.naturalWidth, stage.clientWidth, (stage.clientHeight * picture.naturalWidth) / picture.naturalHeight);

  function resize(to) {
    size = Math.min(Math.max(to, 0), SIZES.length - 1);
    stage.classList.toggle("zoomed", size > 0);
    picture.style.width = size ? `${fitted() * SIZES[size]}px` : "";
    stage.scrollTo((stage.scrollWidth - stage.clientWidth) / 2, (stage.scrollHeight - stage.clientHeight) / 2);
  }

  function step(by) {
    at = (at + by + images.length) % images.length;
    const [shown, count] = [images[at], t("image_of", { n: at + 1, total: images.length })];
    const words = one("figcaption", shown.closest("figure") ?? shown)?.textContent.trim() || shown.alt;
    picture.src = shown.currentSrc || shown.src;
    picture.alt = shown.alt;
    resize(0);
    one("p", dialog).textContent = words ? `${count} · ${words}` : count;
    dialog.setAttribute("aria-label", count);
  }

  const DOES = {
    back: () => step(-1),
    on: () => step(1),
    smaller: () => resize(size - 1),
    larger: () => resize(size + 1),
    close: () => dialog.close(),
  };
  const KEYS = { ArrowLeft: "back", ArrowRight: "on", "-": "smaller", "+": "larger", "=": "larger" };

  dialog.addEventListener("keydown", (event) => {
    const does = KEYS[event.key];
    if (!does || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    // Drags an image that is larger than the window.
    if (size && event.key.startsWith("Arrow")) stage.scrollBy(event.key === "ArrowRight" ? 120 : -120, 0);
    else DOES[does]();
  });
  dialog.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-does]");
    if (button) DOES[button.dataset.does]();
    else if (target === picture) resize(size ? 0 : 2);
    else if (target === stage) dialog.close();
  });
  let from = null;
  stage.addEventListener("touchstart", ({ touches }) => (from = touches.length === 1 && !size && visualViewport.scale === 1 ? touches[0].clientX : null), { passive: true });
  stage.addEventListener("touchend", ({ changedTouches }) => {
    const moved = from === null ? 0 : changedTouches[0].clientX - from;
    if (Math.abs(moved) > SWIPE) step(moved < 0 ? 1 : -1);
  });
  for (const each of all("[data-does=back], [data-does=on]", dialog)) each.hidden = images.length < 2;
  openNewDialog(dialog);
  step(0);
  one('[data-does="close"]', dialog).focus();
}

document.addEventListener("click", (event) => {
  const image = event.target.closest?.(".body img:not(.still)");
  if (!image || event.ctrlKey || event.metaKey || event.shiftKey || !isShown(image)) return;
  event.preventDefault();
  showImages(image);
});
