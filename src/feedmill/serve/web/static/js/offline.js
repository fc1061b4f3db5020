// The offline page: lists the articles that are stored on this device, the last one first.

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

// Reloads the requested page once the server answers. The browser's "online" event comes too early, and may come during
// a click on an article, which a reload would cancel.
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
