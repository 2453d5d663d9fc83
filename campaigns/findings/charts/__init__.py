"""Figures for Plotly and geometry for server-drawn SVG. Pure: values in, plain dicts out; no Django.

Each chart is one module: `draw(chart)` gives the figure, `describe(chart)` its finding in numbers for those
who do not see it, `title(chart)` what is plotted, `legend(chart)`, where there is one, the entries of the
HTML legend, `panel(shown)` all of it with reading help and numbers. `CHARTS` declares what a result page
has of it. Colours are names of CSS tokens, which charts.js resolves.
"""
