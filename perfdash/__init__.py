"""Wiring only: settings, URLs, WSGI, Celery, and the services of a local start."""

from perfdash.celery import app as celery_app

__all__ = ["celery_app"]
