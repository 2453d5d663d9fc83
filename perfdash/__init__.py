"""Wiring only: settings, URLs, WSGI, Celery, and the services of a local start."""

__version__ = "0.1.0"
