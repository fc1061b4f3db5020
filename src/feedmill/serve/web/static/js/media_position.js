// Sound and film go on where they were left.

const KEY = "feedmill.played.";
const place = (media) => media.dataset?.kept && KEY + media.dataset.kept;

// These events don't bubble, so they are caught on the way down.
document.addEventListener("loadedmetadata", ({ target }) => {
  const at = Number(localStorage.getItem(place(target) ?? ""));
  if (at && at < target.duration - 5) target.currentTime = at;
}, true);
document.addEventListener("timeupdate", ({ target }) => place(target) && localStorage.setItem(place(target), Math.floor(target.currentTime)), true);
document.addEventListener("ended", ({ target }) => place(target) && localStorage.removeItem(place(target)), true);
