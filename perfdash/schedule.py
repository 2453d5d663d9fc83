"""The Celery application of beat, which sends messages and does nothing else.

It loads the settings, but no model and no task: `celery -A perfdash.schedule beat`.
"""

import logging.config
import os
import sys
from typing import Any

from celery import Celery
from celery.signals import beat_init, setup_logging
from django.conf import settings

from perfdash.environment import refuse_missing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
# Celery does this in its fixup for Django, which is left out since it loads models.
sys.path.insert(0, os.getcwd())

app = Celery("perfdash", fixups=[])
app.config_from_object("django.conf:settings", namespace="CELERY")


@beat_init.connect
def _check_environment(**kwargs: Any) -> None:
    refuse_missing(("BROKER_URL",))


@setup_logging.connect
def _configure_logs(**kwargs: Any) -> None:
    """Configure the log as Django does in the other processes."""
    logging.config.dictConfig(settings.LOGGING)
