"""Finds plotly.min.js inside the installed package, so that neither a CDN nor a copy is needed."""

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage, Storage


class PlotlyFinder(BaseFinder):
    """One file of Plotly's wheel, served as `vendor/plotly/plotly.min.js`."""

    prefix = "vendor/plotly"
    name = "plotly.min.js"

    def __init__(self) -> None:
        spec = find_spec("plotly")  # importing it would take a fifth of a second
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError("plotly is not installed; script/server installs it.")
        self.directory = Path(spec.origin).parent / "package_data"
        self.storage = FileSystemStorage(location=self.directory)
        self.storage.prefix = self.prefix  # type: ignore[attr-defined]  # collectstatic reads it

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:
        wanted = path == f"{self.prefix}/{self.name}"
        found = [str(self.directory / self.name)] if wanted else []
        if find_all:
            return found
        return found[0] if found else None

    def list(self, ignore_patterns: Any) -> Iterator[tuple[str, Storage]]:
        yield self.name, self.storage
