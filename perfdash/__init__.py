"""Wiring only: settings, URLs, WSGI, Celery, and the services of a local start."""

from perfdash.celery import app as celery_app

__version__ = "0.1.0"
__all__ = ["__version__", "celery_app"]
