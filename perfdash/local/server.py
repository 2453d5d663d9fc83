"""The web server of a local start: its worker process ends with the server's process.

It loads its modules, and the templates of the first page, while the database starts and is prepared, and answers
after that.
"""

import os

from campaigns.kit.kernel import die_with_parent

die_with_parent(os.getppid())

# Nothing may go wrong before the line above.
import django  # noqa: E402
from django.template.loader import get_template  # noqa: E402
from django.urls import reverse  # noqa: E402

from perfdash.local.gate import PREPARED, wait_at  # noqa: E402

django.setup()
reverse("home")  # loads every page
for template in ("base.html", "overview/home/home.html"):
    get_template(template)
wait_at(PREPARED)

from perfdash.server import server  # noqa: E402

__all__ = ["server"]
