// Marks entries as read that were scrolled past, if the user chose so.

import { apply, list } from "./rows.js";

const frame = document.querySelector(".bar")?.offsetHeight ?? 0;

if (list && document.documentElement.dataset.marks === "scroll") {
  // Only rows that leave the window at the top, after the user has scrolled.
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
