"""Says whether it was forked from what has loaded perfdash, and waits: `python -m perfdash.tests.waiting`."""

import sys
import time

if __name__ == "__main__":
    sys.stdout.write(
        f"{__spec__.name}: {'forked' if 'campaigns.tasks' in sys.modules else 'new'}\n"
    )
    time.sleep(300)
