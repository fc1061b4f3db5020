// Notifications of this browser: asks for permission, subscribes to the browser's push service, and sends the
// subscription to the server. The service worker shows what is pushed.

import { all, one } from "./page.js";

const place = one("[data-push-key]");
const show = (name) => all("[data-push]", place).forEach((part) => (part.hidden = part.dataset.push !== name));

// As `fingerprint` in `browser_push.py`.
async function fingerprint(text) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(hash)].slice(0, 8).map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function begin() {
  if (!("PushManager" in window) || !navigator.serviceWorker) return show("unsupported");
  const known = await (await navigator.serviceWorker.ready).pushManager.getSubscription();
  const row = known && one(`[data-browser="${await fingerprint(known.endpoint)}"]`);
  if (!row) return show(Notification.permission === "denied" ? "denied" : "allow");
  one("a", place).replaceWith(row.cloneNode(true));
  show("on");
}

async function subscribe({ pushManager }) {
  const options = { userVisibleOnly: true, applicationServerKey: place.dataset.pushKey };
  try {
    return await pushManager.subscribe(options);
  } catch (error) {
    // The browser is subscribed with another key.
    const old = error.name === "InvalidStateError" && (await pushManager.getSubscription());
    if (!old) throw error;
    await old.unsubscribe();
    return pushManager.subscribe(options);
  }
}

async function allow(form) {
  if ((await Notification.requestPermission()) === "denied") return show("denied");
  try {
    const { endpoint, keys } = (await subscribe(await navigator.serviceWorker.ready)).toJSON();
    form.elements.endpoint.value = endpoint;
    for (const name of ["p256dh", "auth"]) form.elements[name].value = keys[name];
    form.submit();
  } catch {
    show("failed");
  }
}

if (place) {
  begin();
  one("form", place).addEventListener("submit", (event) => {
    event.preventDefault();
    allow(event.target);
  });
}
