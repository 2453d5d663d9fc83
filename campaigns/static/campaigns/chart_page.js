/* Part of a chart that was saved as a page. The page draws its figures in light colours for a wide place; this draws them
   anew in the dark, in a narrow place, and for paper. Tokens have their colours from the style sheet in the page. */
(() => {
  "use strict";
  const NARROW = 480;
  const PAPER = 660; // pixels of an A4 page between its margins
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const mouse = matchMedia("(pointer: fine)").matches;
  const probe = document.createElement("i");
  probe.hidden = true;
  document.body.append(probe);

  /* "@series-1" -> rgb(...) of the theme; "@series-1/40" -> with 40 % alpha. */
  const colour = (name) => {
    const [token, alpha] = name.slice(1).split("/");
    probe.style.color = `var(--${token})`;
    const value = getComputedStyle(probe).color;
    if (!alpha) return value;
    const [r, g, b] = value.match(/[\d.]+/g);
    return `rgba(${r},${g},${b},${alpha / 100})`;
  };
  const merge = (layout, changes) => {
    for (const [key, value] of Object.entries(changes)) {
      const isObject = value && typeof value === "object" && !Array.isArray(value);
      layout[key] = isObject ? { ...layout[key], ...value } : value;
    }
  };

  const charts = [...document.querySelectorAll("script[data-chart]")].map((kept) => {
    const box = document.getElementById(kept.dataset.chart);
    /* With a mouse a drag zooms; a finger that moves over a chart moves the page. */
    if (!mouse) box.addEventListener("touchstart", (event) => event.stopPropagation(), { capture: true, passive: true });
    return { box, times: 0, shown: mouse ? "light wide" : "", figure: { data: box.data, ...JSON.parse(kept.textContent) } };
  });
  const draw = (chart) => {
    const { box, figure } = chart;
    const isNarrow = box.clientWidth < NARROW;
    const isPrinted = "theme" in root.dataset;
    const wanted = `${isPrinted ? "paper" : dark.matches ? "dark" : "light"} ${isNarrow ? "narrow" : "wide"}`;
    if (wanted === chart.shown) return;
    chart.shown = wanted;
    for (const [path, name] of figure.colours) {
      const part = path.slice(0, -1).reduce((inner, key) => inner[key], figure);
      part[path.at(-1)] = colour(name);
    }
    const layout = { ...figure.layout, datarevision: chart.times += 1 };
    if (isNarrow) merge(layout, figure.narrow);
    if (!mouse) layout.dragmode = false;
    if (isPrinted && box.clientWidth > PAPER) layout.width = PAPER;
    window.Plotly.react(box, figure.data, layout);
  };
  const redraw = () => charts.forEach(draw);
  dark.addEventListener("change", redraw);
  addEventListener("resize", redraw);
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    redraw();
  });
  addEventListener("afterprint", () => {
    delete root.dataset.theme;
    redraw();
  });
  redraw();
})();
