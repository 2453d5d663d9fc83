"""What the web server runs: pages and REST API behind what receives requests."""

from django.conf import settings

from perfdash.errors import most_bytes
from perfdash.receiving import Receiver
from perfdash.wsgi import application

server = Receiver(application, threads=settings.WEB_THREADS, most=most_bytes)
