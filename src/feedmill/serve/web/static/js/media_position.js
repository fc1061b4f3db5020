// Where sound and film were left waits in localStorage until the server has it. Of two places the later one counts.

import { csrf, send, user } from "./page.js";

const KEY = `feedmill.positions.${user}`;
const STEP = 5;
const EVERY = 10_000;
const MOST = 50;
const kept = new WeakMap();
let timer = 0;

// By file ("12-0"): seconds, when that was, and whether the server has it.
const known = () => JSON.parse(localStorage.getItem(KEY) ?? "{}");
const save = (places) =>
  localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(Object.entries(places).sort(([, a], [, b]) => b[1] - a[1]).slice(0, MOST))));

function keep(media, seconds = media.currentTime) {
  kept.set(media, seconds);
  save({ ...known(), [media.dataset.media]: [Math.floor(seconds), Date.now(), 0] });
  timer ||= setTimeout(flush, EVERY);
}

// What this device knows, unless the page that the media stand in has it from a later time.
export function placeOf({ dataset: { media, at, played } }) {
  const [seconds, when] = known()[media] ?? [0, 0];
  return when > Number(played) ? seconds : Number(at);
}

function waiting() {
  const places = Object.entries(known()).filter(([, place]) => !place[2]);
  return { places, fields: places.map(([id, [seconds, when]]) => ["position", `${id.replace("-", ":")}:${seconds}:${when}`]) };
}

async function flush() {
  timer = 0;
  const { places, fields } = waiting();
  if (!fields.length) return;
  const { status } = await send("/positions", fields).catch(() => ({ status: 503 }));
  // What is refused is not taken later either. A server that is down, or a session that has ended, is asked again.
  if (status >= 500 || status === 401) return void (timer ||= setTimeout(flush, EVERY));
  const now = known();
  for (const [id, [, when]] of places) if (now[id]?.[1] === when) now[id][2] = 1;
  save(now);
}

// These events do not bubble, so the listeners are capturing ones.
const on = (event, does) => document.addEventListener(event, ({ target }) => target.dataset?.media && does(target), true);

on("loadedmetadata", (media) => {
  const at = placeOf(media);
  kept.set(media, at);
  if (at && at < media.duration - STEP) media.currentTime = at;
});
on("timeupdate", (media) => !media.paused && Math.abs(media.currentTime - (kept.get(media) ?? 0)) >= STEP && keep(media));
on("seeked", (media) => kept.get(media) !== media.currentTime && keep(media));
// At the end it begins anew.
on("pause", (media) => {
  keep(media, media.ended ? 0 : media.currentTime);
  flush();
});

addEventListener("online", flush);
addEventListener("pagehide", () => {
  const { fields } = waiting();
  // They stay here: whether a beacon arrives is never told, and the same place twice is one place.
  if (fields.length) navigator.sendBeacon("/positions", new URLSearchParams([...fields, ["csrf", csrf]]));
});
flush();
