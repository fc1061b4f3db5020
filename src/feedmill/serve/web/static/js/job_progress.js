// Shows the progress of a running job: in the strip under the title, or on its page; also in other windows of this browser.

import { all, fetchPart, one, t } from "./page.js";

const CLOSES_AFTER = 5000;
const MOST_LINES = 200;
const place = one("#strip");
const otherTabs = "BroadcastChannel" in window ? new BroadcastChannel("feedmill.jobs") : null;
let source = null;
let ticking = 0;

function watch(root, id, ended) {
  source?.close();
  source = new EventSource(`/jobs/${id}/events`);
  source.addEventListener("progress", ({ data }) => showProgress(root, JSON.parse(data)));
  source.addEventListener("feed", ({ data }) => addOutcome(root, JSON.parse(data)));
  source.addEventListener("done", ({ data }) => {
    source.close();
    const end = JSON.parse(data);
    showProgress(root, end);
    refreshCounts();
    ended(end);
  });
}

function showProgress(root, { done, total, new: fresh, failed, waiting }) {
  const bar = one("progress", root);
  bar.max = total || 1;
  bar.value = total ? done : 1;
  one(".standing", root).textContent = t("standing", { done, total, new: fresh, failed });
  one(".waiting", root).hidden = !waiting;
}

// Failures with their reasons come first, then successes, the latest first.
function addOutcome(root, { subscription_id, title, outcome, new: fresh, message }) {
  const log = one(".log", root);
  if (!log || !subscription_id) return;
  const line = document.createElement("li");
  const link = document.createElement("a");
  link.href = `/feed/${subscription_id}`;
  link.dir = "auto";
  link.textContent = title;
  line.className = outcome;
  line.append(link, ` ${outcome === "failed" || !fresh ? (message ?? "") : t("fresh", { n: fresh })}`);
  const failures = all("li.failed", log);
  if (outcome === "failed" || !failures.length) log.prepend(line);
  else failures.at(-1).after(line);
  if (log.children.length > MOST_LINES) log.lastElementChild.remove();
}

async function refreshCounts() {
  const response = await fetchPart("/counts");
  if (response?.ok) document.dispatchEvent(new CustomEvent("counts", { detail: await response.json() }));
}

function startStrip() {
  const strip = one(".strip", place ?? document);
  if (!strip || strip.dataset.watched) return;
  strip.dataset.watched = "yes";
  const started = Date.parse(strip.dataset.started);
  clearInterval(ticking);
  ticking = setInterval(() => clock(strip, started), 1000);
  watch(strip, strip.dataset.job, (end) => endStrip(strip, end));
}

function clock(strip, started) {
  if (!strip.isConnected) return clearInterval(ticking);
  const seconds = Math.max(0, Math.round((Date.now() - started) / 1000));
  one(".clock", strip).textContent = [seconds / 60, seconds % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");
}

function endStrip(strip, { status, failed, new: fresh }) {
  clearInterval(ticking);
  strip.dataset.status = status;
  one("form", strip)?.remove();
  one("[data-ended]", strip).textContent = t("ended", { new: fresh, failed });
  if (!failed) setTimeout(() => strip.contains(document.activeElement) || strip.remove(), CLOSES_AFTER);
}

document.addEventListener("click", (event) => {
  const strip = event.target.closest?.(".strip");
  if (!strip) return;
  if (event.target.closest("[data-closes-strip]")) {
    source?.close();
    strip.remove();
  }
  const details = event.target.closest("[data-details]");
  if (!details || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  const log = one(".log", strip);
  log.hidden = !log.hidden;
  details.setAttribute("aria-expanded", String(!log.hidden));
});

document.addEventListener("htmx:after:swap", () => {
  const strip = one(".strip:not([data-watched])", place ?? document);
  if (!strip) return;
  otherTabs?.postMessage(strip.dataset.job);
  startStrip();
});

otherTabs?.addEventListener("message", async ({ data }) => {
  if (!place || !/^\d+$/.test(data) || one(`.strip[data-job="${data}"]`)) return;
  const response = await fetchPart(`/jobs/${data}/strip`);
  if (!response?.ok) return;
  place.innerHTML = await response.text();
  window.htmx?.process(place);
  startStrip();
});

const page = one("[data-job-page]");
if (page?.dataset.status === "running") watch(page, page.dataset.jobPage, () => location.reload());
else if (!page) startStrip();
