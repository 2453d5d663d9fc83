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
