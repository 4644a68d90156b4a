// What is live replaces itself while something is running; everything can be read without this.
(() => {
  "use strict";
  const EVERY = 2000;

  const part = () => document.querySelector("[data-live]");

  // Nothing that the reader is using is taken away under their hands.
  const busy = (element) => element.contains(document.activeElement) && document.activeElement !== document.body;

  const refresh = async () => {
    const old = part();
    if (!old) return;
    if (!document.hidden && !busy(old)) {
      try {
        const answer = await fetch(old.dataset.live, { headers: { "x-fragment": "1" }, cache: "no-store" });
        if (answer.ok) {
          const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
          const fresh = parsed.body.firstElementChild;
          if (fresh && fresh.dataset.done) location.reload();
          else if (fresh && fresh.outerHTML !== old.outerHTML) old.replaceWith(document.adoptNode(fresh));
        }
      } catch {
        // The viewer was stopped, or is started anew: the next round tells.
      }
    }
    setTimeout(refresh, EVERY);
  };
  if (part()) setTimeout(refresh, EVERY);

  // A filter applies at once; without a script there is the button.
  for (const form of document.querySelectorAll("form.filters[role=search]")) {
    form.addEventListener("change", (event) => {
      if (event.target.matches("select")) form.requestSubmit();
    });
    // Empty fields need not stand in the address.
    form.addEventListener("formdata", (event) => {
      for (const [name, value] of [...event.formData]) if (value === "") event.formData.delete(name);
    });
  }
})();
