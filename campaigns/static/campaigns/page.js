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
