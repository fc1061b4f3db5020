// The page for when there is no connection: lists the articles that this device keeps, the last one first.

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

addEventListener("online", () => (location.pathname === "/offline" ? location.assign("/") : location.reload()));
show();
