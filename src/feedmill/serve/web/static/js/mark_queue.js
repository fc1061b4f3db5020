// Queues marks ("read:12") in localStorage until the server has stored them, so that none is lost without a connection.

import { csrf, mustSignIn, send, showToast, t, user } from "./page.js";

const KEY = `feedmill.marks.${user}`;
const MARKS_AT_ONCE = 100;
const SOON = 250;
const AGAIN = 10_000;
let timer = 0;
let sending = false;

const waiting = () => JSON.parse(localStorage.getItem(KEY) ?? "[]");
const keep = (marks) => (marks.length ? localStorage.setItem(KEY, JSON.stringify(marks)) : localStorage.removeItem(KEY));

export function mark(action, id) {
  keep([...waiting(), `${action}:${id}`]);
  flushIn(SOON);
}

function flushIn(ms) {
  clearTimeout(timer);
  timer = setTimeout(flush, ms);
}

export async function flush() {
  const marks = waiting().slice(0, MARKS_AT_ONCE);
  if (!marks.length || sending) return;
  sending = true;
  try {
    const response = await send("/marks", marks.map((mark) => ["do", mark]));
    if (mustSignIn(response)) return;
    // A refused mark would be refused again; only server errors are retried.
    if (response.status >= 500) throw new Error(response.statusText);
    keep(waiting().slice(marks.length));
    if (response.ok) document.dispatchEvent(new CustomEvent("counts", { detail: await response.json() }));
    else showToast(t("failed"), "failed");
    if (waiting().length) flushIn(0);
  } catch {
    showToast(t("offline"), "failed");
    flushIn(AGAIN);
  } finally {
    sending = false;
  }
}

addEventListener("online", flush);
addEventListener("pagehide", () => {
  const marks = waiting();
  if (!marks.length) return;
  // They stay in the queue: whether a beacon arrived is unknown, and sending a mark twice is harmless.
  navigator.sendBeacon("/marks", new URLSearchParams([...marks.map((mark) => ["do", mark]), ["csrf", csrf], ["quiet", "yes"]]));
});
flushIn(SOON);
