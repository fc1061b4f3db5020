// For who wants it: what was scrolled past counts as read.

import { apply, list } from "./rows.js";

const frame = document.querySelector(".bar")?.offsetHeight ?? 0;

if (list && document.documentElement.dataset.marks === "scroll") {
  // Only what leaves at the top, and only once the reader scrolls: what is never reached stays unread.
  const past = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting, boundingClientRect } of seen)
        if (!isIntersecting && boundingClientRect.bottom <= frame && target.classList.contains("unread")) apply("read", target.dataset.id);
    },
    { rootMargin: `-${frame}px 0px 0px 0px` },
  );
  const watch = () => list.querySelectorAll(".row.unread:not([data-watched])").forEach((row) => {
    row.dataset.watched = "";
    past.observe(row);
  });
  watch();
  document.addEventListener("htmx:after:swap", watch);
}
