/* What moves on the page of a running campaign: the chart of the run that is on, and the log's end.
   charts.js draws a chart once, with its colours; here only its numbers are changed afterwards. */
(() => {
  "use strict";
  const EVERY = 2000;

  const axes = (layout) => {
    const changes = {};
    for (const name of ["xaxis", "yaxis"]) {
      for (const key of ["range", "tickvals", "ticktext", "dtick"]) {
        if (key in (layout[name] ?? {})) changes[`${name}.${key}`] = layout[name][key];
      }
    }
    return changes;
  };

  /* A figure with other lines than the drawn one is drawn anew, by charts.js, in a new box. */
  const anew = (box) => {
    const fresh = box.cloneNode(false);
    delete fresh.dataset.drawn;
    box.replaceWith(fresh);
    document.body.dispatchEvent(new Event("htmx:afterSettle"));
  };

  const show = (box, answer) => {
    document.getElementById(box.dataset.figure).textContent = JSON.stringify(answer.figure);
    box.setAttribute("aria-label", answer.label);
    document.getElementById(`h-${box.id}`).textContent = answer.title;
    const traces = answer.figure.data;
    if (!box.data || box.data.length !== traces.length) {
      anew(box);
      return;
    }
    const data = { x: traces.map((trace) => trace.x), y: traces.map((trace) => trace.y) };
    window.Plotly.update(box, data, axes(answer.figure.layout));
  };

  const look = async (id) => {
    const box = document.getElementById(id);
    try {
      const response = document.hidden ? null : await fetch(box.dataset.live);
      if (response?.status === 286) return;
      if (response?.status === 200) show(box, await response.json());
    } catch { /* the server is away: ask again */ }
    setTimeout(look, EVERY, id);
  };
  for (const box of document.querySelectorAll("[data-live]")) setTimeout(look, EVERY, box.id);

  const follow = () => {
    for (const toggle of document.querySelectorAll("[data-follow]")) {
      const log = document.getElementById(toggle.dataset.follow);
      if (toggle.checked) log.scrollTop = log.scrollHeight;
    }
  };
  document.body.addEventListener("htmx:afterSettle", follow);
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-follow]")) follow();
  });
  follow();
})();
