/* The tab of a campaign: its title and icon say how far it is, and that it ended, until somebody looks.
   The page of a running campaign notes that it was watched; the page of its result, which takes its
   place in the same tab, reads that. A notification is asked for by a click, and sent once. */
(() => {
  "use strict";
  const WATCHED = "perfdash-watched";
  const WANTED = "perfdash-notify";
  const bare = document.title;
  const link = document.querySelector('link[rel="icon"]');
  const plain = link.getAttribute("href");

  /* Where cookies are blocked there is no storage either: the tab then tells nothing of the end. */
  const read = (storage, key) => { try { return window[storage].getItem(key); } catch { return null; } };
  const write = (storage, key, value) => { try { window[storage].setItem(key, value); } catch { /* see above */ } };
  const forget = (storage, key) => { try { window[storage].removeItem(key); } catch { /* see above */ } };

  const show = (mark, icon) => {
    const title = mark ? `${mark} ${bare}` : bare;
    if (document.title !== title) document.title = title;
    if (link.getAttribute("href") !== icon) link.setAttribute("href", icon);
  };

  const progress = () => {
    const panel = document.getElementById("progress");
    if (!panel) return;
    write("sessionStorage", WATCHED, panel.dataset.campaign);
    show(panel.dataset.tab, panel.dataset.icon);
  };

  const end = (ended) => {
    if (read("sessionStorage", WATCHED) !== ended.dataset.campaign) return;
    const wanted = `${WANTED}-${ended.dataset.campaign}`;
    if (document.hidden) show(ended.dataset.mark, ended.dataset.icon);
    if (document.hidden && !("awaited" in ended.dataset) && read("localStorage", wanted)) {
      forget("localStorage", wanted);
      const said = `${ended.dataset.mark} ${ended.dataset.name}: ${ended.dataset.state}`;
      const note = new Notification(said, { body: ended.textContent.trim(), tag: wanted });
      note.addEventListener("click", () => { window.focus(); note.close(); });
    }
    const seen = () => {
      if (document.hidden) return;
      forget("sessionStorage", WATCHED);
      forget("localStorage", wanted);
      show("", plain);
    };
    document.addEventListener("visibilitychange", seen);
    seen();
  };

  const offer = (button) => {
    if (!("Notification" in window) || Notification.permission === "denied") return;
    const key = `${WANTED}-${button.dataset.notify}`;
    const draw = () => {
      const on = Boolean(read("localStorage", key)) && Notification.permission === "granted";
      button.setAttribute("aria-pressed", String(on));
      button.querySelector("span").textContent = on ? "Notifies you at the end" : "Notify me at the end";
    };
    button.addEventListener("click", async () => {
      if (button.getAttribute("aria-pressed") === "true") forget("localStorage", key);
      else if (await Notification.requestPermission() === "granted") write("localStorage", key, "1");
      else button.hidden = Notification.permission === "denied";
      draw();
    });
    button.hidden = false;
    draw();
  };

  /* A link from before a result had levels may name a part that stands on another level now: <nav data-parts="JSON"> */
  const follow = (tabs) => {
    const part = location.hash.slice(1);
    if (!part || document.getElementById(part)) return;
    const places = JSON.parse(tabs.dataset.parts);
    const named = Object.keys(places).find((id) => id === part || (id.endsWith("-") && part.startsWith(id)));
    if (named) location.replace(`${places[named]}${location.search}${location.hash}`);
  };
  for (const tabs of document.querySelectorAll("[data-parts]")) follow(tabs);

  const ended = document.getElementById("ended");
  if (ended) end(ended);
  for (const button of document.querySelectorAll("[data-notify]")) offer(button);
  document.addEventListener("htmx:afterSettle", progress);
  progress();
})();
