"""What the processes of perfdash do not load until they use it."""

import subprocess
import sys

import pytest

HEAVY = {"scipy.stats", "scipy.optimize", "plotly", "pyarrow", "asyncssh", "kneed"}
WEB = "from perfdash.wsgi import application; from django.urls import get_resolver; get_resolver().url_patterns"
WORKER = "from perfdash.celery import app; app.loader.import_default_modules(); app.finalize()"


@pytest.mark.system
@pytest.mark.parametrize("start", [WEB, WORKER], ids=["web", "worker and beat"])
def test_a_process_starts_without_libraries_that_few_requests_need(start):
    """Each takes 15 to 100 MiB and up to two seconds, in each of six processes."""
    program = f"{start}; import sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    loaded = set(done.stdout.split())
    assert "campaigns.models" in loaded
    assert not loaded & HEAVY
