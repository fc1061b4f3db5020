// The page for when there is no connection: lists the articles that this device keeps, the last one first.

const EVERY = 10_000;
const list = document.querySelector("[data-kept]");

async function show() {
  if (!list || !(await caches.has("articles"))) return;
  const articles = await caches.open("articles");
  for (const { url } of (await articles.keys()).reverse()) {
    const read = new DOMParser().parseFromString(await (await articles.match(url)).text(), "text/html");
    const link = Object.assign(document.createElement("a"), { href: url, dir: "auto" });
    link.textContent = read.querySelector("article h1")?.textContent.trim() ?? url;
    list.append(document.createElement("li"));
    list.lastElementChild.append(link);
  }
  list.hidden = !list.children.length;
}

// Once the server answers, the page that was asked for is asked for again. Browsers say "online" before that is true, and
// also in the midst of a click on one of the articles, which a reload would undo.
let leaving = false;

async function checkConnection() {
  if (leaving || !list) return;
  const response = await fetch("/offline", { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (!response?.ok || leaving) return;
  if (location.pathname === "/offline") location.assign("/");
  else location.reload();
}

addEventListener("beforeunload", () => (leaving = true));
addEventListener("pageshow", () => (leaving = false));
addEventListener("online", checkConnection);
setInterval(checkConnection, EVERY);
show();
