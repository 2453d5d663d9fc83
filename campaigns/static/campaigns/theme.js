/* One button: automatic, light, dark. The choice is kept in this browser only.
   Loaded in the head, without defer, so that no page is painted in the wrong theme first. */
(() => {
  "use strict";
  document.documentElement.dataset.script = "";  // what only helps without scripts hides itself
  const order = ["auto", "light", "dark"];
  const read = () => {
    try { return localStorage.getItem("theme"); } catch { return null; /* storage is switched off */ }
  };
  const show = (name) => {
    if (name === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = name;
    for (const button of document.querySelectorAll("[data-theme-switch]")) {
      button.setAttribute("aria-label", `Theme: ${name}. Change`);
    }
  };
  let current = order.includes(read()) ? read() : "auto";
  show(current);
  document.addEventListener("DOMContentLoaded", () => show(current));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-switch]")) return;
    current = order[(order.indexOf(current) + 1) % order.length];
    show(current);
    try { localStorage.setItem("theme", current); } catch { /* this page only, then */ }
  });
})();
