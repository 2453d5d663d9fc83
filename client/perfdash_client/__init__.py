"""The command line of perfdash: a thin client of its REST API. It knows nothing of Django."""

__version__ = "0.1.0"
