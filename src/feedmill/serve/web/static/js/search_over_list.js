// Search over a list: a field above it, whose results take the place of its rows. Escape and Back give the list back.

import { OVER, allOpen, mustSignIn, one, showToast, t } from "./page.js";
import { list } from "./rows.js";

const box = list && one("#search-over-list");
const field = box && one("[type=search]", box);
const main = one("#main");
// The list as it was, while results are in its place.
let covered = null;
let asking = null;
let opener = null;

function openBox() {
  if (box.hidden) opener = document.activeElement;
  box.hidden = false;
  field.focus();
  field.select();
}

async function find(query, { push = true } = {}) {
  asking?.abort();
  asking = new AbortController();
  try {
    const response = await fetch(`/search?${query}`, { signal: asking.signal, headers: { "HX-Request": "true" } });
    if (mustSignIn(response)) return;
    cover(await response.text());
    if (push) history[history.state?.search ? "replaceState" : "pushState"]({ search: true }, "", `/search?${query}`);
  } catch (error) {
    if (error.name !== "AbortError") showToast(t("failed"), "failed");
  }
}

function cover(html) {
  const answer = document.createElement("template");
  answer.innerHTML = html;
  const results = one(".rows", answer.content);
  const rows = one(".rows", list);
  covered ??= { rows, top: scrollY, view: list.dataset.view, density: list.dataset.density };
  Object.assign(list.dataset, { view: "/search", density: "cards" });
  main.classList.add("covered");
  if (rows) rows.replaceWith(results);
  else list.append(results);
  one(".answer", box).replaceChildren(answer.content);
  window.htmx?.process(main);
  scrollTo(0, 0);
  if (one(".row", results)) results.focus({ preventScroll: true });
}

function uncover() {
  box.hidden = true;
  field.value = "";
  one(".answer", box).replaceChildren();
  if (covered) {
    const { rows, top, view, density } = covered;
    covered = null;
    Object.assign(list.dataset, { view, density });
    main.classList.remove("covered");
    if (rows) one(".rows", list).replaceWith(rows);
    else one(".rows", list).remove();
    scrollTo(0, top);
  }
  if (opener?.isConnected) opener.focus({ preventScroll: true });
}

function close() {
  asking?.abort();
  if (history.state?.search) history.back();
  else uncover();
}

// Under an article, where there is no room beside it: there the link goes to the search page.
const isOutOfSight = () => one(".frame.reading") && getComputedStyle(one(".pane")).position === "fixed";

if (box) {
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest?.('[data-key="/"]') && !isOutOfSight()) openBox();
    else if (event.target.closest?.("[data-closes-search]")) close();
    else return;
    event.preventDefault();
  });
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) find(new URLSearchParams(new FormData(event.target)));
  });
  document.addEventListener(
    "keydown",
    (event) => {
      if (event.key !== "Escape" || event.isComposing || box.hidden || allOpen(OVER).length) return;
      if (one(".frame.reading") && event.target !== field) return;
      event.preventDefault();
      event.stopPropagation();
      close();
    },
    true,
  );
  // Before the reading pane looks for its row: this script runs before that one.
  addEventListener("popstate", (event) => {
    const { state } = event;
    if (state?.search && !covered) {
      event.stopImmediatePropagation();
      openBox();
      field.value = new URLSearchParams(location.search).get("q") ?? "";
      find(location.search.slice(1), { push: false });
    } else if (covered && !state?.search && !one(`#e${state?.item ?? 0}`, list)) uncover();
  });
}
