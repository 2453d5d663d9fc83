/* Small manners of every page: Escape closes an open menu, a click elsewhere too. */
(() => {
  "use strict";
  const close = (menu) => { menu.open = false; };
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
      close(menu);
    }
  });
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!menu.contains(event.target)) close(menu);
    }
  });
})();

/* A link to a place on the page opens the folds that it is in; in a form the field that it names gets the focus. */
(() => {
  "use strict";
  const CONTROLS = "input:not([type=hidden]), select, textarea, button";
  const reveal = () => {
    const place = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!place) return;
    for (let fold = place.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (!place.closest("form") || place.hasAttribute("tabindex")) return;
    const controls = place.matches(CONTROLS) ? [place] : [...place.querySelectorAll(CONTROLS)];
    const shown = controls.filter((control) => control.checkVisibility() && control.tabIndex >= 0);
    const wrong = shown.find((control) => control.matches("[aria-invalid=true]"));
    (wrong ?? shown.find((control) => !control.matches("[role=switch]")))?.focus();
  };
  window.addEventListener("hashchange", reveal);
  document.addEventListener("DOMContentLoaded", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) reveal();
  });
})();

/* Polling: a panel that has not changed is left alone (focus, selection and scrolling stay), and
   a server that does not answer is said to be silent instead of showing old figures as new ones. */
(() => {
  "use strict";
  const last = new Map();
  const note = () => document.getElementById("silent");
  document.addEventListener("htmx:beforeSwap", (event) => {
    const { requestConfig, xhr, target } = event.detail;
    if (note()) note().hidden = true;
    if (requestConfig.verb !== "get" || !requestConfig.elt.matches("[hx-trigger^=every]")) return;
    const key = `${target.id} ${requestConfig.path}`;
    if (last.get(key) === xhr.responseText) event.detail.shouldSwap = false;
    last.set(key, xhr.responseText);
  });
  const silent = () => { if (note()) note().hidden = false; };
  document.addEventListener("htmx:sendError", silent);
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status >= 500) silent();
  });
})();
