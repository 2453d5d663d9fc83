"""The Celery application; the tasks are in `campaigns.tasks`."""

import os
from typing import Any

from celery import Celery
from celery.signals import beat_init, celeryd_init

from perfdash.environment import REQUIRED, refuse_missing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")

app = Celery("perfdash")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@celeryd_init.connect
@beat_init.connect
def _check_environment(**kwargs: Any) -> None:
    refuse_missing(REQUIRED)
