// Runs beside the pages, for when there is no connection: keeps their shell, a page that says so, and the articles
// that were opened last. Shows notifications that are pushed, also while no page is open. VERSION, SHELL and ICON stand before this.

const SHELL_CACHE = `shell-${VERSION}`;
const ARTICLES = "articles";
const MOST = 200;
const OFFLINE = "/offline";
let forgotten = 0;

addEventListener("install", (event) => event.waitUntil(caches.open(SHELL_CACHE).then((shell) => shell.addAll(SHELL)).then(skipWaiting)));
addEventListener("activate", (event) => event.waitUntil(begin()));

async function begin() {
  await clients.claim();
  for (const name of await caches.keys()) if (name.startsWith("shell-") && name !== SHELL_CACHE) await caches.delete(name);
  // So the browser asks for a page itself, with the headers that tell where the reader comes from.
  await registration.navigationPreload?.enable();
}

addEventListener("fetch", (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  const leaves = url.pathname === "/logout" && request.method === "POST";
  if (leaves) event.waitUntil(endPushes());
  if (leaves || /^\/(login|sign-in-link)(\/|$)/.test(url.pathname)) event.waitUntil(forget());
  if (request.method !== "GET") return;
  if (url.pathname.startsWith("/static/")) event.respondWith(caches.match(request).then((kept) => kept ?? fetch(request)));
  else if (request.mode === "navigate") event.respondWith(page(event, url));
  else if (isArticle(url) && request.headers.has("HX-Request")) event.respondWith(part(event, url));
});

addEventListener("message", ({ data: { href, text } }) => keep(new URL(href), new Response(text), forgotten));

// The push service tells our server with the next message.
const endPushes = async () => (await registration.pushManager?.getSubscription())?.unsubscribe();

// Browsers end a subscription whose pushes show nothing.
addEventListener("push", (event) => {
  const { title = "Feedmill", body = "", path = "/" } = event.data?.json() ?? {};
  event.waitUntil(registration.showNotification(title, { body, data: path, icon: ICON }));
});

// Only pages of ours are opened, whatever the message says.
addEventListener("notificationclick", (event) => {
  event.notification.close();
  const url = new URL(event.notification.data, location.origin);
  if (url.origin === location.origin) event.waitUntil(openPage(url.href));
});

async function openPage(url) {
  const [page] = await clients.matchAll({ type: "window" });
  if (!page) return clients.openWindow(url);
  await page.focus();
  return page.navigate(url);
}

const isArticle = (url) => /^\/item\/\d+$/.test(url.pathname);

// What one reader opened is not for the next, nor for nobody.
function forget() {
  forgotten += 1;
  return caches.delete(ARTICLES);
}

async function page(event, url) {
  const before = forgotten;
  try {
    const response = (await event.preloadResponse) ?? (await fetch(event.request));
    if (isArticle(url)) event.waitUntil(keep(url, response.clone(), before));
    return response;
  } catch {
    return (await keptPage(url)) ?? caches.match(OFFLINE);
  }
}

async function part(event, url) {
  const before = forgotten;
  try {
    const response = await fetch(event.request);
    if (!event.request.headers.has("HX-Preloaded")) event.waitUntil(keep(url, response.clone(), before));
    return response;
  } catch {
    const html = await kept(url);
    if (html === null) return Response.error();
    return isWhole(html) ? new Response("", { headers: { "HX-Redirect": url.href } }) : asHtml(html);
  }
}

// An article is kept as it was opened last, a page or the part that a pane shows; the ones longest ago go.
async function keep(url, response, before) {
  if (!response.ok || response.redirected) return;
  const articles = await caches.open(ARTICLES);
  await articles.delete(url.pathname);
  await articles.put(url.pathname, response);
  for (const old of (await articles.keys()).slice(0, -MOST)) await articles.delete(old);
  if (before !== forgotten) await caches.delete(ARTICLES);
}

async function kept(url) {
  if (!isArticle(url) || !(await caches.has(ARTICLES))) return null;
  const response = await (await caches.open(ARTICLES)).match(url.pathname);
  return response ? response.text() : null;
}

const isWhole = (html) => html.slice(0, 200).toLowerCase().includes("<!doctype");

async function keptPage(url) {
  const html = await kept(url);
  if (html === null) return null;
  if (isWhole(html)) return asHtml(html);
  const frame = await (await caches.match(OFFLINE)).text();
  const article = html.slice(html.indexOf("<article"));
  return asHtml(frame.replace(/<main[^]*<\/main>/, () => `<main id="main"><p class="away"><a href="/">Feedmill</a></p>${article}</main>`));
}

// The policy of our pages holds for these too.
const asHtml = async (html) => new Response(html, { headers: (await caches.match(OFFLINE)).headers });
