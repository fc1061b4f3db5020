// Pulling down a list at its top refreshes its feeds.

import { one } from "./page.js";
import { list } from "./rows.js";

const FAR = 96;
const button = list && one('[data-key="r"]');
let begun = null;

function show(sign, pulled) {
  sign.style.setProperty("--pulled", Math.min(pulled / FAR, 1));
  sign.classList.toggle("far", pulled >= FAR);
}

if (button) {
  const sign = document.createElement("div");
  sign.className = "pull";
  sign.append(one(".i", button).cloneNode(true));
  one("#main").prepend(sign);
  // Disables the browser's own pull to reload.
  document.documentElement.classList.add("pulls");

  const pulled = (event) => event.changedTouches[0].clientY - begun.y;
  const end = () => {
    begun = null;
    show(sign, 0);
  };

  one("#main").addEventListener("touchstart", ({ touches }) => {
    begun = scrollY <= 0 && touches.length === 1 ? { x: touches[0].clientX, y: touches[0].clientY } : null;
  }, { passive: true });
  one("#main").addEventListener("touchmove", (event) => {
    if (!begun) return;
    const down = pulled(event);
    // A sideways movement is a swipe, an upward one is scrolling.
    if (scrollY > 0 || Math.abs(event.changedTouches[0].clientX - begun.x) > Math.max(down, 10)) end();
    else show(sign, Math.max(0, down));
  }, { passive: true });
  one("#main").addEventListener("touchend", (event) => {
    const isFar = begun && pulled(event) >= FAR && scrollY <= 0;
    end();
    if (isFar) button.click();
  });
  one("#main").addEventListener("touchcancel", end);
}
