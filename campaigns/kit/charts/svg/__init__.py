"""Figures as SVG, for what has to show a chart without a script: reports, prints, mails. Pure.

A figure is that of campaigns.kit.charts.figure. Colours stay names of CSS tokens, so that one drawing serves
light, dark and paper; whoever shows it brings the style sheet. It draws what charts of results use:
points, lines, error bars, bands, and words.
"""

from campaigns.kit.charts.svg.drawing import drawn

__all__ = ["drawn"]
