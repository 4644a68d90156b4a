// One key for each answer; the buttons and links do the same without this.
(() => {
  "use strict";
  const writing = (element) => element.closest("input, textarea, select, [contenteditable]");

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || writing(event.target)) return;
    const control = document.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!control || control.disabled) return;
    event.preventDefault();
    control.click();
  });

  // A second click while the first is on its way would answer the next question unread.
  for (const form of document.querySelectorAll("form.answers, form.inline, form.draw")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = "1";
    });
  }
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
})();
