"""What the web server runs: pages and REST API behind what receives requests."""

from perfdash.wsgi import application

# isort: split
# That has set Django up, which the others need.
from django.conf import settings

from perfdash.errors import most_bytes
from perfdash.receiving import Receiver

server = Receiver(application, threads=settings.WEB_THREADS, most=most_bytes)
