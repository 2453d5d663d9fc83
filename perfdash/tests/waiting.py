"""Says whether it was forked from what has loaded perfdash, and its encryption keys, and waits: `python -m perfdash.tests.waiting`."""

import sys
import time

from django.conf import settings

if __name__ == "__main__":
    sys.stdout.write(
        f"{__spec__.name}: {'forked' if 'campaigns.tasks' in sys.modules else 'new'} {settings.ENCRYPTION_KEYS}\n"
    )
    time.sleep(300)
