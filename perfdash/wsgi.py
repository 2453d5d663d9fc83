"""The WSGI application."""

import gc
import os

from django.core.wsgi import get_wsgi_application

from perfdash.database import limit_waits
from perfdash.environment import REQUIRED, SIGNING, refuse_missing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
refuse_missing((*REQUIRED, SIGNING))

application = get_wsgi_application()
limit_waits()

# The collector skips what was loaded, and looks at new objects less often: a large submission makes a hundred thousand.
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)
