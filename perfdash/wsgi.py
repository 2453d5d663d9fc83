"""The WSGI application."""

import os

from django.core.wsgi import get_wsgi_application

from perfdash.database import limit_waits
from perfdash.environment import REQUIRED, refuse_missing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
refuse_missing(REQUIRED)

application = get_wsgi_application()
limit_waits()
