"""Wiring only: settings, URLs, WSGI, Celery, and the services of a local start."""

from campaigns.kit import kernel

# All of these processes have secrets in their environment, and programs of operators run as the same user.
kernel.hide_process()

__version__ = "0.1.0"
