// The player at the bottom of the page: it stays while one reads on, and offers to go on after another page was loaded.

import { placeOf } from "./media_position.js";
import { all, articlePlace, one, showToast, t, user } from "./page.js";
import { open } from "./reading_pane.js";
import { rowOf } from "./rows.js";

const LAST = `feedmill.playing.${user}`;
const SPEED = "feedmill.speed";
let dock = null;
let media = null;

// 1:02:03, or 2:03.
const clock = (seconds) => new Date(seconds * 1000).toISOString().slice(11, 19).replace(/^0(?:0:0?)?/, "");

const setCurrent = (item, is) => (is ? item.setAttribute("aria-current", "true") : item.removeAttribute("aria-current"));

function show(player) {
  close();
  dock = player;
  media = one("audio", dock);
  // First in the page, so that its keys are found before those of an article.
  one(".skip").after(dock);
  setSpeed(localStorage.getItem(SPEED) ?? "1");
  showPlace(placeOf(media));
  localStorage.setItem(LAST, dock.dataset.file);
  // A player that was closed may still have something to say.
  const on = (event, does) => media.addEventListener(event, ({ target }) => target === media && does());
  on("play", showState);
  on("pause", showState);
  on("timeupdate", () => showPlace(media.currentTime));
  on("durationchange", showLength);
  on("ended", () => localStorage.removeItem(LAST));
  on("error", () => showToast(t("media_failed"), "failed"));
  showState();
}

function close() {
  if (!dock) return;
  media.pause();
  localStorage.removeItem(LAST);
  dock.remove();
  dock = media = null;
  showState();
}

function showPlace(seconds) {
  const range = one("input", dock);
  if (!range.matches(":active")) range.value = seconds;
  one(".elapsed", dock).textContent = clock(seconds);
  range.setAttribute("aria-valuetext", clock(seconds));
  const starts = all("[data-starts]", dock);
  const here = starts.filter((chapter) => Number(chapter.dataset.starts) <= seconds).at(-1);
  for (const chapter of starts) setCurrent(chapter, chapter === here);
}

function showLength() {
  if (!Number.isFinite(media.duration)) return;
  one("input", dock).max = Math.floor(media.duration);
  one(".length", dock).textContent = clock(media.duration);
}

// Every button that plays the file says what it does now, in the player and in its article.
function showState() {
  const isPlaying = Boolean(media && !media.paused);
  for (const button of [dock, articlePlace].flatMap((place) => (place ? all("[data-plays]", place) : []))) {
    const plays = isPlaying && button.dataset.plays === dock.dataset.file;
    if (plays === button.classList.contains("playing")) continue;
    button.classList.toggle("playing", plays);
    const words = plays ? t("pause") : t("play");
    one("span", button).textContent = words;
    if (button.title) button.title = words;
  }
  if (isPlaying) tellSystem();
}

function setSpeed(speed) {
  media.defaultPlaybackRate = media.playbackRate = Number(speed);
  localStorage.setItem(SPEED, speed);
  one(".speed", dock).textContent = `${speed}×`;
  for (const each of all("[data-speed]", dock)) setCurrent(each, each.dataset.speed === speed);
}

// Before anything is loaded the place is only noted: it is gone to with the first sound.
function goTo(seconds) {
  const to = Math.max(0, Math.min(seconds, Number(one("input", dock).max) || seconds));
  if (media.readyState) media.currentTime = to;
  else Object.assign(media.dataset, { at: to, played: Date.now() });
  showPlace(to);
}

const skip = (by) => goTo((media.readyState ? media.currentTime : placeOf(media)) + by);

function play() {
  // A file that can't be played tells so by its event.
  media.play().catch(() => {});
}

// The lock screen, the keys of headphones and the like.
function tellSystem() {
  const session = navigator.mediaSession;
  if (!session) return;
  session.metadata = new MediaMetadata({ title: one(".now a", dock).textContent, artist: one(".now span", dock).textContent });
  const does = { play, pause: () => media.pause(), seekbackward: () => skip(-15), seekforward: () => skip(30), seekto: ({ seekTime }) => goTo(seekTime) };
  for (const [action, handler] of Object.entries(does)) session.setActionHandler(action, handler);
}

function start(file) {
  if (dock?.dataset.file !== file) {
    const card = one(`.episode [data-plays="${file}"]`).closest(".episode");
    show(one("template", card).content.firstElementChild.cloneNode(true));
  }
}

document.addEventListener("click", (event) => {
  const target = event.target.closest?.("[data-plays], [data-skips], [data-starts], [data-speed], [data-closes-player], .now a");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const { plays, skips, starts, of, speed, closesPlayer } = target.dataset;
  const row = target.matches(".now a") && rowOf(dock.dataset.file.split("-")[0]);
  if (row) open(row);
  else if (plays) {
    start(plays);
    if (media.paused) play();
    else media.pause();
  } else if (skips) skip(Number(skips));
  else if (starts) {
    if (of) start(of);
    goTo(Number(starts));
    play();
  } else if (speed) setSpeed(speed);
  else if (closesPlayer !== undefined) close();
  else return;
  event.preventDefault();
});

document.addEventListener("input", ({ target }) => target.matches(".dock input") && (one(".elapsed", dock).textContent = clock(target.value)));
document.addEventListener("change", ({ target }) => target.matches(".dock input") && goTo(Number(target.value)));
// With the mouse it is let go of: the keys are for the page again.
document.addEventListener("pointerup", ({ target }) => target.matches?.(".dock input") && target.blur());

// An article that comes into the pane shows whether it is the one that plays.
if (one(".pane")) new MutationObserver(showState).observe(one(".pane"), { childList: true });

async function fetchPlayer(file) {
  const response = await fetch(`/item/${file.replace("-", "/player/")}`, { headers: { "HX-Request": "true" } }).catch(() => null);
  if (response?.status === 404) localStorage.removeItem(LAST);
  return response?.ok ? new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild : null;
}

const last = one(".skip") && localStorage.getItem(LAST);
if (last) fetchPlayer(last).then((player) => player && !dock && show(player));

// Who comes back to this window may have listened on another device meanwhile.
document.addEventListener("visibilitychange", async () => {
  if (document.hidden || (media && !media.paused)) return;
  for (const file of new Set(all("[data-plays]").map((button) => button.dataset.plays))) {
    const player = await fetchPlayer(file);
    if (!player) continue;
    const { at, played } = one("audio", player).dataset;
    const before = media && placeOf(media);
    for (const each of [media, ...all(".episode template").map(({ content }) => one("audio", content))])
      if (each?.dataset.media === file) Object.assign(each.dataset, { at, played });
    if (media?.paused && placeOf(media) !== before) goTo(placeOf(media));
  }
});
