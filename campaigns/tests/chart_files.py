"""Charts that were saved as pages: what a browser would read in them."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import plotly.graph_objects as go

CALL = re.compile(r'Plotly\.newPlot\(\s*"(?P<name>[\w-]+)",\s*')
LOADING = {"src", "href", "srcset", "data", "action", "poster", "background"}
"""Attributes by which an element would load something, or lead somewhere."""


class ChartFile(HTMLParser):
    """The elements of a page, its text, and its scripts with their attributes."""

    def __init__(self, response):
        super().__init__()
        assert response.status_code == 200
        assert response["Content-Type"] == "text/html; charset=utf-8"
        self.headers = response.headers
        self.source = response.content.decode()
        self.elements, self.texts, self.scripts = [], [], []
        self.feed(self.source)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.cdata_elem == "script":
            self.scripts.append((self.elements[-1][1], data))
        elif self.cdata_elem is None:
            self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    @property
    def policy(self):
        return next(
            attributes["content"]
            for _, attributes in self.elements
            if attributes.get("http-equiv") == "Content-Security-Policy"
        )

    @property
    def figures(self):
        """The figures by name, as Plotly's Python package accepts them."""
        return {name: go.Figure(data=data, layout=layout) for name, data, layout in self._calls()}

    @property
    def fittings(self):
        """What chart_page.js is given, by the name of the figure."""
        return {
            attributes["data-chart"]: json.loads(text)
            for attributes, text in self.scripts
            if "data-chart" in attributes
        }

    def _calls(self):
        decoder = json.JSONDecoder()
        for attributes, text in self.scripts:
            found = None if attributes else CALL.search(text[:2000])
            if found:
                data, end = decoder.raw_decode(text, found.end())
                layout, _ = decoder.raw_decode(text, text.index("{", end))
                yield found["name"], data, layout

    def stands_alone(self):
        """Nothing is loaded, and what runs is what the policy names."""
        assert not [each for each in self.elements if LOADING & each[1].keys()]
        assert not [name for _, each in self.elements for name in each if name.startswith("on")]
        running = [text for attributes, text in self.scripts if not attributes]
        digests = {b64encode(sha256(text.encode()).digest()).decode() for text in running}
        (allowed,) = re.findall(r"script-src ([^;]*)", self.policy)
        assert {f"'sha256-{digest}'" for digest in digests} == set(allowed.split())
        assert "default-src 'none'" in self.policy
        assert self.headers["Content-Security-Policy"].startswith(self.policy)
        return len(running) == 2 + len(self.figures)


def saved(browser, address, query=None):
    """Ask for a chart as a page."""
    return ChartFile(browser.get(address, query or {}))
