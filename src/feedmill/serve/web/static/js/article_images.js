// Images that the server fetches on demand: retried while the fetch runs; if it fails, the reason is shown.

const TRIES = 6;
const tries = new WeakMap();

async function retryOrExplain(image) {
  const { status, headers, text } = await answerTo(image.src);
  const tried = (tries.get(image) ?? 0) + 1;
  tries.set(image, tried);
  if (!image.isConnected) return;
  if (status === 503 && tried < TRIES) setTimeout(() => (image.src = image.src), 1000 * Number(headers.get("retry-after") ?? 3));
  else if (image.matches(".picture, .still")) image.remove();
  else if (status === 404) explain(image, text);
}

async function answerTo(address) {
  const response = await fetch(address);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function explain(image, html) {
  const placeholder = new DOMParser().parseFromString(html, "text/html").querySelector(".absent");
  if (!placeholder) return;
  if (image.alt) placeholder.querySelector("span").firstChild.textContent = `${image.alt} `;
  if (image.closest("a")) placeholder.querySelector("a")?.replaceWith(placeholder.querySelector("a").textContent);
  (image.closest("picture") ?? image).replaceWith(placeholder);
}

const FETCHED = "img[src^='/item/']";
// The event does not bubble, so the listener is a capturing one.
document.addEventListener("error", ({ target }) => target.matches?.(FETCHED) && retryOrExplain(target), true);
// Some may have failed before this script ran.
for (const image of document.querySelectorAll(FETCHED)) if (image.complete && !image.naturalWidth) retryOrExplain(image);
