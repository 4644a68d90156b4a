// Lines between aligned pairs, and whatever a link points at brought into sight. Every page can be read without this.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const rows = [...document.querySelectorAll(".row")].filter((row) => row.querySelector(".threads"));

  const middle = (element, top) => {
    const box = element.getBoundingClientRect();
    return box.top + box.height / 2 - top;
  };

  // From the edge of the comment's card to that of the reference's, at the height of the two markers.
  const draw = (row) => {
    const threads = row.querySelector(".threads");
    const frame = threads.getBoundingClientRect();
    threads.replaceChildren();
    if (!frame.width) return;
    for (const start of row.querySelectorAll("[data-thread]")) {
      const end = row.querySelector(`[data-end="${start.dataset.thread}"]`);
      if (!end) continue;
      const [from, to, half] = [middle(start, frame.top), middle(end, frame.top), frame.width / 2];
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("class", start.getAttribute("class").replace("partner", "thread"));
      path.setAttribute("d", `M0,${from} C${half},${from} ${half},${to} ${frame.width},${to}`);
      path.dataset.pair = start.dataset.thread;
      threads.append(path);
    }
  };

  const light = (row, event) => {
    const card = event.type === "mouseleave" ? null : event.target.closest(".card");
    for (const path of row.querySelectorAll(".thread")) {
      path.classList.toggle("lit", Boolean(card) && path.dataset.pair.split("-").includes(card.id));
    }
  };

  // A link may lead into what is folded away.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    let folded = target && target.closest("details:not([open])");
    if (!folded) return;
    for (; folded; folded = target.closest("details:not([open])")) folded.open = true;
    target.scrollIntoView();
  };

  const resized = new ResizeObserver((entries) => entries.forEach((entry) => draw(entry.target)));
  for (const row of rows) {
    resized.observe(row);
    row.addEventListener("toggle", () => draw(row), true);
    for (const kind of ["mouseover", "focusin", "mouseleave"]) {
      row.addEventListener(kind, (event) => light(row, event));
    }
  }
  addEventListener("hashchange", reveal);
  reveal();
})();
